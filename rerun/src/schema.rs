//! `rerun schema`: the schema of the result file, as published in `rerun/schema.json`.

use anyhow::Result;

use crate::result::Run;

/// The schema of [`Run`] as text.
pub fn text() -> Result<String> {
    let schema = schemars::schema_for!(Run);
    Ok(serde_json::to_string_pretty(&schema)? + "\n")
}

pub fn print() -> Result<()> {
    print!("{}", text()?);
    Ok(())
}

#[cfg(test)]
mod tests {
    #[test]
    fn published_schema_is_the_one_of_the_types() {
        let published = include_str!("../schema.json");
        assert!(
            published == super::text().unwrap(),
            "rerun/schema.json is old: cargo run -p rerun -- schema > rerun/schema.json"
        );
    }
}
