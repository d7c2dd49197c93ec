//! The fuzzer's entry point for `fuzz/src/oracle_files.rs`.
#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| freehold_fuzz::oracle_files::body(bytes));
