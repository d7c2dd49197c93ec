pub(crate) mod alloc;
pub(crate) mod bulk;
pub(crate) mod exclusive;
pub(crate) mod many;
pub(crate) mod slowpath;
