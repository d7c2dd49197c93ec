//! A small zone to try things on: a script comes in, what the allocator did comes out.
//!
//! The same script always gives the same zone, so that a page can keep the script alone: in its address, or to undo.

mod happenings;
mod script;
mod words;
mod zone;

pub use zone::sandbox;
