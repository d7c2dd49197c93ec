//! The input of one scrape.

use std::sync::Arc;

use super::process;
use crate::model::{Map, Model};
use crate::serve::publishing::Published;

/// Everything that one text is made of.
pub(in crate::serve) struct Scrape {
    pub(super) published: Arc<Published>,
    /// The connections of the server; `None` if the text is for a file.
    pub(super) connections: Option<Connections>,
    pub(super) cpu_seconds: f64,
    pub(super) resident_bytes: Option<u64>,
}

/// Connections of a server.
#[derive(Clone, Copy)]
pub(super) struct Connections {
    pub(super) open: u64,
    pub(super) refused: u64,
}

impl Scrape {
    /// Returns what a client of the server gets.
    pub(in crate::serve) fn new(published: Arc<Published>, connections: usize, refused: u64) -> Self {
        let connections = Connections { open: connections as u64, refused };
        Self { connections: Some(connections), ..Self::for_file(published) }
    }

    /// Returns what a file gets.
    pub(in crate::serve) fn for_file(published: Arc<Published>) -> Self {
        let (cpu_seconds, resident_bytes) = (process::cpu_seconds(), process::resident_bytes());
        Self { published, connections: None, cpu_seconds, resident_bytes }
    }

    /// Returns true if this process takes sample after sample. Otherwise what it counts would begin anew with each text.
    pub(super) fn is_of_a_series(&self) -> bool {
        self.published.interval_ms > 0
    }

    pub(super) fn model(&self) -> &Model {
        &self.published.model
    }

    pub(super) fn map(&self) -> Option<&Map> {
        self.published.map.as_deref().map(|shown| &*shown.map)
    }
}
