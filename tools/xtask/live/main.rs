//! Tests of what the workshop makes: they need QEMU, a browser, root, or what `cargo xtask dist` has left.

mod demo;
mod guest;
mod handed_out;
mod site;
mod traces;
mod wheels;
