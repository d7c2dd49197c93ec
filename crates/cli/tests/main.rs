//! The tests of the command line as one program: each program more is linked, and compiles what the tests share, once more.
//!
//! They are hermetic: none needs root, reads or changes this machine's memory, or starts a program that is not part of a plain
//! Debian with a C compiler. What needs more is in `live`.

mod analyze;
mod anonymize;
mod bad_import;
mod bad_trace;
mod blame;
mod check;
mod common;
mod compare;
mod contrib;
mod diff;
mod explain;
mod foreign_text;
mod generate;
mod manual;
mod new_rule;
mod outputs;
mod pasted_traces;
mod predict;
mod readme;
mod recorded_roots;
mod refused_files;
mod rehearse;
mod repair;
mod replay;
mod report;
mod serve;
mod serve_abuse;
mod serve_common;
mod serve_series;
mod serve_socket;
mod serve_tls;
mod snapshot;
mod snapshot_metrics;
mod sweep;
mod top;
mod trace;
mod watch;
mod written;
