//! The tests that need Python, as one program: `cargo xtask live` runs it.

mod installed;
