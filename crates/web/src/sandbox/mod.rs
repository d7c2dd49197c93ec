//! A small zone for experiments: a script comes in; the actions of the allocator and the zone's state go out.
//!
//! The same script always gives the same zone. Therefore a page needs to keep only the script, in its address and for
//! undo.

mod happenings;
mod script;
mod words;
mod zone;

pub use zone::sandbox;
