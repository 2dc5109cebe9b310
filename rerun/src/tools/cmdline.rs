//! Command lines of generators, as they stand in a paste above what they printed.

use super::Tool;

/// What a command line says.
#[derive(Clone, Debug, PartialEq)]
pub struct Command {
    pub tool: Tool,
    pub connections: Option<u32>,
    pub requests: Option<u64>,
    /// Requests a second that were to be sent (wrk2 -R; hey -q and oha -q limit a rate).
    pub rate: Option<u64>,
    /// Streams of one connection (h2load -m, oha -p).
    pub streams: Option<u32>,
    /// ab -k.
    pub keep_alive: bool,
    /// wrk -s: a script may send several requests at a time.
    pub script: bool,
}

/// What stands before a command: `sudo`, `time`.
const PREFIXES: usize = 6;

/// The command line in `text`, if there is one.
pub fn find(text: &str) -> Option<Command> {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_argument =
        |word: &str| word.starts_with('-') && word.len() > 1 || word.starts_with("http");
    let at = words
        .iter()
        .take(PREFIXES)
        .enumerate()
        .find_map(|(at, word)| {
            let tool = named(word)?;
            words
                .get(at + 1)
                .is_some_and(|next| is_argument(next))
                .then_some((at, tool))
        });
    let (at, tool) = at?;
    Some(parse(tool, &words[at + 1..]))
}

/// Of a word such as `./wrk` or `$wrk`.
fn named(word: &str) -> Option<Tool> {
    let name = word
        .rsplit(['/', ':'])
        .next()?
        .trim_start_matches(['$', '#', '%']);
    match name {
        "boom" => Some(Tool::Hey),
        _ => Tool::ALL.into_iter().find(|tool| tool.name() == name),
    }
}

fn parse(tool: Tool, words: &[&str]) -> Command {
    let option = |short: &str, long: &str| value(words, short, long);
    let rate = match tool {
        Tool::Wrk | Tool::Wrk2 => option("-R", "--rate"),
        Tool::Hey | Tool::Oha => option("-q", "--qps"),
        _ => None,
    };
    let streams = match tool {
        Tool::H2load => option("-m", "--max-concurrent-streams"),
        Tool::Oha => option("-p", "--parallel"),
        _ => None,
    };
    Command {
        tool: if tool == Tool::Wrk && rate.is_some() {
            Tool::Wrk2
        } else {
            tool
        },
        connections: option("-c", "--connections").and_then(|number| number.try_into().ok()),
        requests: (tool != Tool::Wrk)
            .then(|| option("-n", "--requests"))
            .flatten(),
        rate,
        streams: streams.and_then(|number| number.try_into().ok()),
        keep_alive: words
            .iter()
            .any(|word| *word == "-k" || *word == "-kc" || *word == "-kn"),
        script: matches!(tool, Tool::Wrk | Tool::Wrk2)
            && words
                .iter()
                .any(|word| word.starts_with("-s") || word.starts_with("--script")),
    }
}

/// `-c100`, `-c 100`, `-c=100`, `--connections=100`, `-c 1k`.
fn value(words: &[&str], short: &str, long: &str) -> Option<u64> {
    words.iter().enumerate().find_map(|(at, word)| {
        let rest = word
            .strip_prefix(long)
            .or_else(|| word.strip_prefix(short).filter(|_| !word.starts_with("--")))?;
        let rest = rest.trim_start_matches('=');
        let word = if rest.is_empty() {
            words.get(at + 1)?
        } else {
            rest
        };
        let digits = word.trim_end_matches(['k', 'K', 'm', 'M']);
        let scale = match &word[digits.len()..] {
            "" => 1,
            "k" | "K" => 1000,
            "m" | "M" => 1_000_000,
            _ => return None,
        };
        digits.parse::<u64>().ok()?.checked_mul(scale)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn command_lines() {
        let ab = find("root@host:~# ab -k -n 10000 -c 100 http://127.0.0.1/").unwrap();
        assert_eq!(
            (ab.tool, ab.connections, ab.requests),
            (Tool::Ab, Some(100), Some(10_000))
        );
        assert!(ab.keep_alive);
        let wrk = find("$ ./wrk -t8 -c500 -d30s http://x/").unwrap();
        assert_eq!(
            (wrk.tool, wrk.connections, wrk.rate),
            (Tool::Wrk, Some(500), None)
        );
        let wrk2 = find("wrk -t2 -c100 -d30s -R2k http://x/").unwrap();
        assert_eq!((wrk2.tool, wrk2.rate), (Tool::Wrk2, Some(2000)));
        let hey = find("sudo hey -z 10s -c 50 http://x/").unwrap();
        assert_eq!(
            (hey.tool, hey.connections, hey.requests),
            (Tool::Hey, Some(50), None)
        );
        let h2load = find("h2load --h1 -n1000 -c 10 -m=4 http://x/").unwrap();
        assert_eq!((h2load.streams, h2load.requests), (Some(4), Some(1000)));
    }

    #[test]
    fn prose() {
        for text in [
            "we used wrk for it",
            "ab",
            "the hey - tool",
            "-c 100",
            "用 ab 测试",
        ] {
            assert_eq!(find(text), None, "{text}");
        }
    }
}
