//! The fuzzer's entry point for `fuzz/src/ftrace_text.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_fuzz::ftrace_text::body(bytes));
