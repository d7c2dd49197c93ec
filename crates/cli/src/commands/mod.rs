//! Commands, each a file or a folder: arguments come in; a result goes out, from which `main` makes the
//! exit code.

pub(super) mod analyze;
mod anonymize;
pub(super) mod blame;
mod bounded_lists;
pub(super) mod callers;
pub(super) mod check;
pub(super) mod compare;
pub(super) mod demand;
pub(super) mod diff;
pub(super) mod explain;
pub(super) mod fallbacks;
pub(super) mod generate;
pub(super) mod give_back;
pub(super) mod import;
mod kernel_text;
pub(super) mod manual;
mod needs;
pub(super) mod new_rule;
mod pass_time;
pub(super) mod predict;
pub(super) mod record;
mod recording_text;
pub(super) mod reference;
pub(super) mod rehearse;
pub(super) mod repair;
mod repair_lock;
pub(super) mod replay;
mod request;
mod requester;
pub(super) mod serve;
pub(super) mod snapshot;
pub(super) mod sweep;
mod thresholds;
pub(super) mod top;
pub(super) mod trace;
pub(super) mod watch;
