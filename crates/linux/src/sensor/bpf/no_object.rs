//! The replacement of the loaded object in a build without the feature `bpf`: it cannot be created.

use super::messages::{Map, Message, Room};
use crate::error::BpfError;

/// The loaded object, which cannot exist in this build.
#[derive(Debug)]
pub(super) enum Programs {}

impl Programs {
    /// Returns the error that this build has no programs.
    pub(super) fn load(_zones: u32, _chunks: u32, _room: Option<Room>) -> Result<Self, BpfError> {
        Err(BpfError::NotBuilt)
    }

    /// Never called.
    pub(super) fn run(&self, _program: &'static str, _message: &mut Message) -> Result<u32, BpfError> {
        match *self {}
    }

    /// Never called.
    pub(super) fn get(&self, _map: Map, _key: u32) -> Result<Vec<u8>, BpfError> {
        match *self {}
    }

    /// Never called.
    pub(super) fn put(&self, _map: Map, _key: u32, _bytes: &[u8]) -> Result<(), BpfError> {
        match *self {}
    }
}
