//! What stands for the sensor where it was not built.

use freehold::Migratetype;
use freehold_trace::ZoneSnapshot;

use super::error::BpfError;
use crate::sensor::FreeBlocks;

/// Free blocks of the running kernel, read from its own fields by a BPF program: not in this build.
#[derive(Debug)]
pub enum BpfSensor {}

impl BpfSensor {
    /// Would load the program.
    ///
    /// # Errors
    /// Always, as it was not built.
    pub fn open(_zones: &[ZoneSnapshot], _pageblock_order: Option<u8>) -> Result<Self, BpfError> {
        Err(BpfError::NotBuilt)
    }

    /// Would read the free blocks of all zones.
    pub fn read(&mut self) -> Result<FreeBlocks, BpfError> {
        match *self {}
    }

    /// Would tell how many orders did not hold still.
    pub fn unsettled(&self) -> u64 {
        match *self {}
    }

    /// Would tell the types on whose lists each pageblock has free blocks.
    pub fn free_list_types(&mut self) -> Result<Vec<(u64, Migratetype)>, BpfError> {
        match *self {}
    }

    /// Would name the slab caches of frames.
    pub fn slab_names(&mut self, _pfns: &[u64]) -> Result<Vec<Option<String>>, BpfError> {
        match *self {}
    }
}
