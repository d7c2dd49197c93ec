//! The fuzzer's entry point for `fuzz/src/explain_log.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_fuzz::explain_log::body(bytes));
