//! Freehold on other machines: takes a kernel, and returns the results of every command on it.
//!
//! [`kernel`] fetches a Debian kernel or takes a file. [`initramfs`] packs its root with the static program. [`boot`]
//! runs it in QEMU and scrapes its metrics. [`given`] reads the files that the guest prints. [`command`] is the command
//! line.

pub(crate) mod boot;
pub mod command;
pub(crate) mod given;
pub(crate) mod initramfs;
pub mod kernel;
