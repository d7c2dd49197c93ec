//! Guests in QEMU: a kernel and a root come in; a running machine with its console goes out.
//!
//! A [`Machine`] describes a guest, [`archive`] packs its root, [`Guest::boot`] starts it, and its [`Console`] is read
//! line by line. [`State::save`] saves the whole machine, and [`State::resume`] starts any number of guests from the
//! saved state. This crate downloads and builds nothing: the caller provides kernels, roots and disks as files.
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
