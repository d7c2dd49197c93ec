//! The checks of STYLE.md and ARCHITECTURE.md: takes the repository, and returns findings.

mod crates;
mod documents;
mod findings;
mod imports;
mod rooms;
mod tests_left_out;
mod type_names;
mod words;

pub use findings::findings;
