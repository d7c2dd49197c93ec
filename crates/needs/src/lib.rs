//! What tests need of the machine that they run on.
//!
//! Each question names the test that asks. Where the machine cannot give what is needed, the answer is no, and
//! [`skip`] has said by name that the test is skipped, and why. Only tests depend on this crate.
#![forbid(unsafe_code)]

mod group;
mod machine;
mod nobody;
mod said;
mod small_disk;

pub use group::SmallGroup;
pub use machine::{can, has_file, has_program, is_root};
pub use nobody::as_nobody;
pub use said::skip;
pub use small_disk::SmallDisk;
