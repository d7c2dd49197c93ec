//! The fuzzer's entry point for `fuzz/src/perf_data.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_fuzz::perf_data::body(bytes));
