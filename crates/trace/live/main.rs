//! The tests that need Python, in one program: `cargo xtask live` runs it.

#[path = "../tests/common/mod.rs"]
mod common;
mod pyarrow;
