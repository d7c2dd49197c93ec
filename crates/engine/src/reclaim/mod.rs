//! The number of missing pages comes in; the embedder frees pages, and the number of freed pages goes out.

mod kswapd;
mod shrinker;
mod wake;

pub use shrinker::{Reclaimed, Reclaimer, ShrinkControl, Shrinker};
