//! What stands for the loaded object in a build without the feature `bpf`: there is never one.

use super::messages::{Map, Message};
use crate::error::BpfError;

/// The object in the kernel; this build has none.
#[derive(Debug)]
pub(super) enum Programs {}

impl Programs {
    /// Answers that there are no programs.
    pub(super) fn load(_zones: u32, _chunks: u32) -> Result<Self, BpfError> {
        Err(BpfError::NotBuilt)
    }

    /// Would run a program.
    pub(super) fn run(&self, _program: &'static str, _message: &mut Message) -> Result<u32, BpfError> {
        match *self {}
    }

    /// Would read the entry of a map.
    pub(super) fn get(&self, _map: Map, _key: u32) -> Result<Vec<u8>, BpfError> {
        match *self {}
    }

    /// Would write the entry of a map.
    pub(super) fn put(&self, _map: Map, _key: u32, _bytes: &[u8]) -> Result<(), BpfError> {
        match *self {}
    }
}
