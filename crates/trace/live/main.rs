//! The tests that need Python, as one program: `cargo xtask live` runs it.

#[path = "../tests/common/mod.rs"]
mod common;
mod pyarrow;
