//! The messages to the page.

use serde_json::Value;

/// One message to the page.
#[derive(Clone, PartialEq, Debug)]
pub struct Reply {
    /// The contents. The field `kind` names the kind of message.
    pub json: Value,
    /// Data that is too large for JSON: one byte for each cell of a map.
    pub bytes: Vec<u8>,
}

impl From<Value> for Reply {
    fn from(json: Value) -> Self {
        Self { json, bytes: Vec::new() }
    }
}
