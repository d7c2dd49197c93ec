//! What is handed out: a commit comes in; static programs, packages, wheels, sources and lists of them go out.
//!
//! [`libc`] gets the headers of musl, [`libraries`] builds libelf and zlib with them, [`program`] the program, [`wheel`] the wheels;
//! [`contents`] lists what is inside, [`package`] and [`source`] pack, [`command`] does all of it.

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
