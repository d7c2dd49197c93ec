pub(crate) mod list;
pub(crate) mod lists;
pub(crate) mod tuning;
