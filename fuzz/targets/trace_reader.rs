//! The fuzzer's entry point for `fuzz/src/trace_reader.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_fuzz::trace_reader::body(bytes));
