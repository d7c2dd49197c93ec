//! The replacement of the watch in a build without the feature `bpf`: it cannot be created.

use super::stacks::Stacks;
use super::symbols::Symbols;
use super::watched::Watched;
use crate::error::BpfError;
use crate::sensor::BpfSensor;

/// The watch, which cannot exist in this build.
#[derive(Debug)]
pub enum AllocationWatch {}

impl AllocationWatch {
    /// Returns the error that this build has no programs.
    ///
    /// # Errors
    /// Always.
    pub fn start(_: &mut BpfSensor) -> Result<Self, BpfError> {
        Err(BpfError::NotBuilt)
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub fn keep_below(&mut self, _: f64) -> Result<(), BpfError> {
        match *self {}
    }

    /// Never called.
    ///
    /// # Errors
    /// Never.
    pub fn finish(self, _: &Symbols, _: &mut Stacks) -> Result<Watched, BpfError> {
        match self {}
    }
}
