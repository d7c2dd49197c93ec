//! Properties of the parsers for arbitrary input, one per module, for the fuzzer and for the tests.
//!
//! A module's `body` takes any bytes, and panics if they violate its property.

pub mod explain_log;
pub mod ftrace_text;
pub mod oracle_files;
pub mod perf_data;
pub mod proc_texts;
pub mod trace_reader;

/// A target of the fuzzer: its name and its body.
pub type Target = (&'static str, fn(&[u8]));

/// Every target.
pub const TARGETS: [Target; 6] = [
    ("explain_log", explain_log::body),
    ("ftrace_text", ftrace_text::body),
    ("oracle_files", oracle_files::body),
    ("perf_data", perf_data::body),
    ("proc_texts", proc_texts::body),
    ("trace_reader", trace_reader::body),
];
