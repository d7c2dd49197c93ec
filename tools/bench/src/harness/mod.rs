//! The harness: a machine and handles on it come in, times and a digest of the work go out.

mod digest;
mod handles;
mod measure;
pub mod mixture;
mod pages;
mod pin;
mod setup;
mod summary;

pub use digest::Digest;
pub(crate) use handles::{Handle, OneByOne};
pub use handles::{LockedHandle, OwnedHandle};
#[cfg(feature = "peers")]
pub(crate) use measure::UNNAMED;
pub use measure::{batch, interleave, pairs};
pub(crate) use measure::{calmest, clock_ns, ns_since, wrong};
pub use pages::Pages;
pub(crate) use pin::{on_one_processor, pin, processors, sharing_note};
pub use setup::{BLOCK, START, Setup, SpinPlatform};
pub(crate) use setup::{FairPlatform, add_alternating};
pub use summary::Summary;
pub(crate) use summary::percent_over;
