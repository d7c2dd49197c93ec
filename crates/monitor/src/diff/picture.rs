//! Free memory at one moment, as the JSON of `freehold snapshot` has it.

use serde::Deserialize;
use serde_json::Value;

/// The most orders of a zone, and the most types of a kernel.
const MAX_COUNTS: usize = 32;

/// Why a text is no snapshot.
#[derive(thiserror::Error, Debug)]
pub enum PictureError {
    /// It is no JSON, or not that of `freehold snapshot`.
    #[error("it is not the JSON of `freehold snapshot --format json`: {0}. Write it again with that command")]
    Form(#[from] serde_json::Error),
    /// Its arrays contradict each other.
    #[error(
        "zone {zone} of node {node} has {found} entries in `{field}`, where {expected} are expected. Write the snapshot \
         again with this version of freehold"
    )]
    Length {
        /// NUMA node.
        node: u32,
        /// Name of the zone.
        zone: String,
        /// The array.
        field: &'static str,
        /// Its length.
        found: usize,
        /// The length that it should have.
        expected: usize,
    },
}

/// Free memory at one moment.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct Picture {
    /// The machine.
    #[serde(default)]
    pub machine: PictureMachine,
    /// The order of a pageblock.
    pub pageblock_order: Option<u8>,
    /// The names of the kernel's migratetypes, in its order.
    #[serde(default)]
    pub types: Vec<String>,
    /// The zones.
    pub zones: Vec<ZonePicture>,
    /// What is missing, assumed or contradictory.
    #[serde(default)]
    pub notes: Vec<String>,
}

/// What a picture says of its machine.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct PictureMachine {
    /// Bytes of a page; 0 if unknown.
    #[serde(default)]
    pub page_bytes: u64,
}

/// One zone at one moment.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
pub struct ZonePicture {
    /// NUMA node.
    pub node: u32,
    /// Name of the zone.
    pub name: String,
    /// Free pages.
    pub free_pages: u64,
    /// Free blocks by order; empty if only the free pages are known.
    #[serde(default)]
    pub free: Vec<Blocks>,
    /// Free blocks by type and order.
    pub by_type: Option<Vec<Vec<Blocks>>>,
    /// Pageblocks by type.
    pub pageblocks: Option<Vec<u64>>,
    /// Blocks of each order that the free blocks make up.
    #[serde(default)]
    pub blocks: Vec<u64>,
    /// The share of free memory that cannot serve each order.
    #[serde(default)]
    pub unusable_index: Vec<f64>,
    /// Why a request of each order would fail; `None` if it would not.
    #[serde(default)]
    pub extfrag_index: Vec<Option<f64>>,
}

/// A number of free blocks.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
pub struct Blocks {
    /// The number.
    pub blocks: u64,
    /// True if it is a lower bound.
    #[serde(default)]
    pub capped: bool,
}

impl Picture {
    /// Reads a picture from JSON.
    ///
    /// # Errors
    /// If it is not that of `freehold snapshot`, or its arrays contradict each other.
    pub fn from_json(value: Value) -> Result<Self, PictureError> {
        let picture: Self = serde_json::from_value(value)?;
        for zone in &picture.zones {
            zone.check(picture.types.len())?;
        }
        Ok(picture)
    }

    /// Returns the zone of this node and name.
    pub fn zone(&self, node: u32, name: &str) -> Option<&ZonePicture> {
        self.zones.iter().find(|zone| zone.node == node && zone.name == name)
    }
}

impl ZonePicture {
    fn check(&self, types: usize) -> Result<(), PictureError> {
        let orders = self.free.len().min(MAX_COUNTS);
        let expect = |field, found, expected| {
            if found == expected {
                return Ok(());
            }
            Err(PictureError::Length { node: self.node, zone: self.name.clone(), field, found, expected })
        };
        expect("free", self.free.len(), orders)?;
        expect("blocks", self.blocks.len(), orders)?;
        expect("unusable_index", self.unusable_index.len(), orders)?;
        expect("extfrag_index", self.extfrag_index.len(), orders)?;
        if let Some(pageblocks) = &self.pageblocks {
            expect("pageblocks", pageblocks.len(), types)?;
        }
        for list in self.by_type.iter().flatten() {
            expect("by_type", list.len(), orders)?;
        }
        expect("by_type", self.by_type.as_ref().map_or(types, Vec::len), types)
    }

    /// Returns the free pages on the lists of each type.
    pub(super) fn pages_by_type(&self) -> Option<Vec<u64>> {
        let pages = |list: &Vec<Blocks>| {
            let pages = list.iter().enumerate();
            pages.fold(0_u64, |sum, (order, count)| {
                sum.saturating_add(count.blocks.saturating_mul(1 << order))
            })
        };
        Some(self.by_type.as_ref()?.iter().map(pages).collect())
    }

    /// Returns true if a count is a lower bound.
    pub(super) fn is_capped(&self) -> bool {
        self.free.iter().any(|count| count.capped)
    }
}
