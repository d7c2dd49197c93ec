//! What the page is told.

use std::error::Error;

use serde_json::Value;

/// One message to the page.
#[derive(Clone, PartialEq, Debug)]
pub struct Told {
    /// What it says; `kind` names it.
    pub json: Value,
    /// What is too much for JSON: one byte for each cell of a map.
    pub bytes: Vec<u8>,
}

impl From<Value> for Told {
    fn from(json: Value) -> Self {
        Self { json, bytes: Vec::new() }
    }
}

/// Returns an error and its causes as one sentence.
pub fn sentence(error: &dyn Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
