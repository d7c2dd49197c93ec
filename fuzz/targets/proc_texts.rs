//! The fuzzer's entry point for `fuzz/src/proc_texts.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_fuzz::proc_texts::body(bytes));
