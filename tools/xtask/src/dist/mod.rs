//! The release: takes a commit, and makes static programs, packages, wheels, sources and lists of their contents.
//!
//! [`libc`] fetches the headers of musl, and [`libraries`] builds libelf and zlib with them. [`program`] builds the
//! program, and [`wheel`] the wheels. [`contents`] lists their parts, [`package`] and [`source`] pack. [`command`] is
//! the command line.

pub mod command;
pub(crate) mod contents;
pub(crate) mod inside;
pub(crate) mod libc;
pub(crate) mod libraries;
pub(crate) mod package;
pub mod processor;
pub(crate) mod program;
pub(crate) mod source;
pub(crate) mod wheel;
