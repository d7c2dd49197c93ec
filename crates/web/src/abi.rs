//! The way to JavaScript: bytes in the memory that both see.
//!
//! [`input`] sets bytes aside, the page writes a trace or nothing and a command in JSON behind it, and [`run`] does it. What
//! is told goes out by the page's own `send` while [`run`] runs.
#![expect(unsafe_code, reason = "names that the page calls, and a function of the page")]

use std::cell::RefCell;

use crate::command::act;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Takes a message: the JSON and the bytes lie in this module's memory until it returns.
    safe fn send(json: *const u8, json_bytes: usize, data: *const u8, data_bytes: usize);
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Sets bytes aside for a command and what it is about, and returns where they are.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; bytes];
        input.as_mut_ptr()
    })
}

/// Does the command that lies in the input behind a trace of so many bytes.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn run(trace_bytes: usize) {
    let mut trace = INPUT.take();
    let command = trace.split_off(trace_bytes.min(trace.len()));
    act(&command, trace, &mut |reply| {
        let json = reply.json.to_string();
        send(json.as_ptr(), json.len(), reply.bytes.as_ptr(), reply.bytes.len());
    });
}
