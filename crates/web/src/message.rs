//! The messages to the page.

use serde_json::Value;

/// One message to the page.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// What it says; `kind` names it.
    pub json: Value,
    /// What is too much for JSON: one byte for each cell of a map.
    pub bytes: Vec<u8>,
}

impl From<Value> for Reply {
    fn from(json: Value) -> Self {
        Self { json, bytes: Vec::new() }
    }
}
