//! Guests in QEMU: a kernel and a root come in; a running machine with its console comes out.
//!
//! A [`Machine`] says what a guest consists of, [`archive`] packs its root, [`Guest::boot`] starts it, and its
//! [`Console`] is read line by line. [`State::save`] keeps the whole machine, and [`State::resume`] starts any
//! number of guests that go on from there. This crate downloads and builds nothing: kernels, roots and disks are files of the caller's.
#![forbid(unsafe_code)]

mod console;
mod error;
mod guest;
mod machine;
mod monitor;
mod program;
mod root;
mod state;

pub use console::Console;
pub use error::{VmError, VmResult};
pub use guest::{Ended, Guest};
pub use machine::{Arch, Clock, Disk, Door, Hotplug, Machine};
pub use root::{Entry, archive};
pub use state::State;
