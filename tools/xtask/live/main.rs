//! Tests of the results of cargo xtask. They need QEMU, a browser, root, or the files of `cargo xtask dist`.

mod demo;
mod guest;
mod handed_out;
mod site;
mod traces;
mod wheels;
