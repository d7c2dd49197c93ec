//! A kernel that boots in QEMU on two CPUs, and whose page allocator is Freehold: `docs/guide/embed.md` says how to run
//! it.
//!
//! The order of events: [`boot`] enters long mode, [`start_info`] reads the memory map, [`zones`] brings memory
//! into service, and [`kernel_main`] does the rest. It ends QEMU with status 33 if every check passed, else with 35.
#![cfg_attr(target_os = "none", no_std, no_main)]

#[cfg(target_os = "none")]
mod apic;
#[cfg(target_os = "none")]
mod boot;
#[cfg(target_os = "none")]
mod cache;
#[cfg(target_os = "none")]
mod daemons;
#[cfg(target_os = "none")]
mod demo;
#[cfg(target_os = "none")]
mod hotplug;
#[cfg(target_os = "none")]
mod interrupt;
#[cfg(target_os = "none")]
mod load;
#[cfg(target_os = "none")]
mod lock;
#[cfg(target_os = "none")]
mod once;
#[cfg(target_os = "none")]
mod page;
#[cfg(target_os = "none")]
mod port;
#[cfg(target_os = "none")]
mod serial;
#[cfg(target_os = "none")]
mod start_info;
#[cfg(target_os = "none")]
mod verdict;
#[cfg(target_os = "none")]
mod zones;

#[cfg(not(target_os = "none"))]
fn main() {
    println!("This is a kernel: build it for x86_64-unknown-none, and boot it as docs/guide/embed.md says.");
}
