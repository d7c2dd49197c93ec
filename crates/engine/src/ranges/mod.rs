pub(crate) mod contiguous;
pub(crate) mod isolation;
pub(crate) mod onlining;
pub(crate) mod restore;
