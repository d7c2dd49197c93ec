//! The input of one scrape.

use std::sync::Arc;

use super::process;
use crate::model::{Map, Model};
use crate::serve::publishing::Published;

/// Everything that one scrape is answered from.
pub(in crate::serve) struct Scrape {
    pub(super) published: Arc<Published>,
    pub(super) connections: usize,
    pub(super) refused: u64,
    pub(super) cpu_seconds: f64,
    pub(super) resident_bytes: Option<u64>,
}

impl Scrape {
    pub(in crate::serve) fn new(published: Arc<Published>, connections: usize, refused: u64) -> Self {
        let (cpu_seconds, resident_bytes) = (process::cpu_seconds(), process::resident_bytes());
        Self { published, connections, refused, cpu_seconds, resident_bytes }
    }

    pub(super) fn model(&self) -> &Model {
        &self.published.model
    }

    pub(super) fn map(&self) -> Option<&Map> {
        self.published.map.as_deref().map(|shown| &*shown.map)
    }
}
