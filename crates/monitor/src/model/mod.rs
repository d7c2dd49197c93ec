//! The model of a machine's memory: two samples come in, the model that every output renders goes out.
//!
//! `machine.rs` contains a `zone.rs` for each zone, whose numbers by type are a `by_kernel_type.rs`, `rates.rs` between the two samples, the pageblock `map.rs`, and `gigabytes.rs`.

mod by_kernel_type;
mod gigabytes;
mod machine;
mod map;
mod rates;
mod trend;
mod zone;

pub use by_kernel_type::ByKernelType;
pub use gigabytes::{Gigabyte, GigabyteState};
pub use machine::{Model, SensorModel};
pub use map::{Holds, Map, ZoneMap};
pub use rates::{RATED, Rate, Rated, rates};
pub use trend::{Trend, trend};
pub use zone::{ZoneModel, ZonePages};
