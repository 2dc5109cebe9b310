//! What `docs/from-lua.md` says: programs in two languages, and what both answer.

/// One of its parts.
#[derive(Default)]
pub struct Part<'a> {
    pub title: &'a str,
    /// What stands in the block of each language: "lua", "rust", "text", "nginx http".
    blocks: Vec<(&'a str, String)>,
}

impl<'a> Part<'a> {
    /// The parts that have programs.
    pub fn all(page: &'a str) -> Vec<Part<'a>> {
        let mut parts = vec![Part::default()];
        let mut lines = page.lines();
        while let Some(line) = lines.next() {
            if let Some(title) = line.strip_prefix("## ") {
                parts.push(Part {
                    title,
                    ..Part::default()
                });
            } else if let Some(language) = line.strip_prefix("```") {
                let text: String = lines
                    .by_ref()
                    .take_while(|line| *line != "```")
                    .flat_map(|line| [line, "\n"])
                    .collect();
                let part = parts.last_mut().expect("there is a first part");
                part.blocks.push((language, text));
            }
        }
        parts.retain(|part| !part.blocks.is_empty());
        parts
    }

    /// The block of this language; empty where there is none.
    pub fn block(&self, language: &str) -> &str {
        let found = self.blocks.iter().find(|(name, _)| *name == language);
        found.map_or("", |(_, text)| text)
    }

    /// The name of the handler, the last of the async functions that are not within another.
    pub fn handler(&self) -> &str {
        self.functions().last().expect("an async fn in each part")
    }

    /// The names of those that have no parameters: background tasks. Of use to the build alone.
    #[allow(dead_code)]
    pub fn tasks(&self) -> impl Iterator<Item = &str> {
        let block = self.block("rust");
        self.functions()
            .filter(move |name| block.contains(&format!("async fn {name}() {{")))
    }

    fn functions(&self) -> impl Iterator<Item = &str> {
        let lines = self.block("rust").lines();
        lines.filter_map(|line| line.strip_prefix("async fn ")?.split('(').next())
    }
}
