//! The tests that need Python, as one program that `cargo xtask live` runs.

mod installed;
