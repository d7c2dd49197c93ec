pub(crate) mod error;
pub(crate) mod gfp;
pub(crate) mod migratetype;
pub(crate) mod stats;
pub(crate) mod switches;
pub(crate) mod tracepoints;
pub(crate) mod units;
