//! The interface to JavaScript: bytes in shared memory.
//!
//! [`input`] allocates bytes. The page writes a trace, or nothing, and a command in JSON behind it. [`run`] carries out
//! the command, and sends each reply by the page's function `send`.
#![expect(unsafe_code, reason = "functions with names for the page, and a function of the page")]

use std::cell::RefCell;

use crate::command::act;

#[link(wasm_import_module = "page")]
unsafe extern "C" {
    /// Receives a message. The JSON and the bytes stay in this module's memory until the function returns.
    safe fn send(json: *const u8, json_bytes: usize, data: *const u8, data_bytes: usize);
}

thread_local! {
    static INPUT: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// Allocates `bytes` bytes for a trace and a command. Returns their address.
// SAFETY: no other function has this name.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn input(bytes: usize) -> *mut u8 {
    INPUT.with_borrow_mut(|input| {
        *input = vec![0; bytes];
        input.as_mut_ptr()
    })
}

/// Carries out the command in the input. It lies behind a trace of `trace_bytes` bytes.
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
