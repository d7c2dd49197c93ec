//! The checks of STYLE.md and ARCHITECTURE.md: the repository comes in, findings go out.

mod crates;
mod documents;
mod findings;
mod imports;
mod rooms;
mod tests_left_out;
mod type_names;

pub use findings::findings;
