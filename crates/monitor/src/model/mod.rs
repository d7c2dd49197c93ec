//! The model of a machine's memory: two samples come in, the model that every output renders goes out.
//!
//! `machine.rs` contains a `zone.rs` for each zone, `rates.rs` between the two samples, the pageblock `map.rs`, and `gigabytes.rs`.

mod gigabytes;
mod machine;
mod map;
mod rates;
mod trend;
mod zone;

pub use gigabytes::{Gigabyte, GigabyteState};
pub use machine::{Model, SensorModel};
pub use map::{Holds, Map, ZoneMap};
pub use rates::{RATED, Rate, Rated, rates};
pub use trend::{Trend, trend};
pub use zone::{ZoneModel, ZonePages};
