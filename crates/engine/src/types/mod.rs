//! The basic types of the engine. This folder imports nothing from the others, and all others use it.

mod alloc_context;
mod alloc_flags;
mod error;
mod gfp;
mod migratetype;
mod pageblock_use;
mod placement_rule;
mod platform;
mod request;
mod stats;
mod switch;
mod switches;
mod tracepoints;
mod units;
mod zone_type;

pub(crate) use alloc_context::AllocContext;
pub(crate) use alloc_flags::AllocFlags;
pub use error::{AllocAtError, AllocError, BlockError, FreeError, SetupError};
pub use gfp::GfpFlags;
pub use migratetype::{MIGRATETYPES, Migratetype, PCP_TYPES};
pub use pageblock_use::PageblockUse;
pub use placement_rule::{
    Chore, FallbackRequest, Offer, Offers, PlacementChoice, PlacementRule, RefusedChoices,
};
pub use platform::{OwnersFreeOnce, Platform};
pub use request::Request;
pub use stats::{PerCpuStats, RequestStats, ZoneStats};
pub use switch::Switch;
pub use switches::{Era, SwitchField, Switches};
pub use tracepoints::{ExtFrag, Tracepoints};
pub use units::{MAX_ORDERS, NR_PAGE_ORDERS, Order, Pfn};
pub use zone_type::{ZONE_TYPES, ZoneType};
