//! The part of STYLE.md and ARCHITECTURE.md that a machine can check: in comes the repository, out comes what is not as
//! it should be.

mod crates;
mod documents;
mod findings;
mod imports;
mod rooms;
mod type_names;

pub use findings::findings;
