//! The tests of the command line that need this machine: root, tracefs, BPF, its memory, or programs such as Chromium, Prometheus, tmux,
//! strace and openssl.
//!
//! `cargo xtask live` runs them. A test that lacks something says so by name, through `freehold-needs`.

mod alert_stories;
mod alone;
mod blame;
mod blamed;
mod callers;
mod check;
mod check_growth;
#[path = "../tests/common/mod.rs"]
mod common;
mod failing_writes;
#[allow(dead_code, reason = "the measurements use the rest")]
mod fragment;
mod full_disk;
mod new_rule;
mod prometheus;
mod record;
mod record_limits;
mod recordable;
mod recorded;
mod repair;
mod report_page;
mod serve_alerts;
#[path = "../tests/serve_common/mod.rs"]
mod serve_common;
mod serve_fleet;
mod serve_page;
mod serve_prometheus;
mod serve_tls;
mod snapshot_metrics;
mod this_machine;
mod top;
mod unprivileged;
