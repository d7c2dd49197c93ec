//! The engine's tables, a file each. Takes options and returns a report.

mod by_processor;
mod counts;
mod drain;
mod pagealloc;
mod pagetypeinfo;
mod queue;
mod refill;
mod scale;
mod sensor;

pub use counts::Work;
pub(crate) use counts::run as counts;
pub(crate) use drain::run as drain;
pub(crate) use pagealloc::run as pagealloc;
pub(crate) use pagetypeinfo::run as pagetypeinfo;
pub(crate) use refill::run as refill;
pub(crate) use scale::run as scale;
pub(crate) use sensor::run as sensor;
