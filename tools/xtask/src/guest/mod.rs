//! Freehold on other machines: a kernel comes in; what every command did on it goes out.
//!
//! [`kernel`] gets a kernel of Debian's or takes a file, [`initramfs`] packs it a root with the static program,
//! [`boot`] runs that in QEMU and answers what the guest asks of the outside, [`given`] are the files that it hands out,
//! [`command`] does all of it.

pub(crate) mod boot;
pub mod command;
pub(crate) mod given;
pub(crate) mod initramfs;
pub mod kernel;
