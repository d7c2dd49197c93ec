//! The number of missing pages goes in; the embedder frees pages.

mod kswapd;
mod shrinker;
mod wake;

pub use shrinker::{Reclaimed, Reclaimer, ShrinkControl, Shrinker};
