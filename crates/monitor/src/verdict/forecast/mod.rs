//! Forecasts: how many blocks a request gets, as a distribution.
//!
//! `inputs.rs` counts blocks after more and more work of the kernel. `curve.rs` makes a distribution of them for a requester.

mod answer;
mod curve;
mod inputs;
mod requester;

pub use answer::Forecast;
pub(super) use answer::likely;
pub use inputs::ForecastInputs;
pub use requester::Requester;
