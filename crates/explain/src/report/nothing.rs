//! What to say of a text in which no report was found.

use super::log::Log;

impl Log {
    /// Returns what was looked for and what was read, for a log without a report.
    pub fn nothing_found(&self) -> String {
        let stats = self.stats;
        let what = if stats.bytes == 0 {
            "the text is empty".to_owned()
        } else if let Some(command) = self.packed {
            format!("the {} bytes are packed; use `{command} | freehold explain`", stats.bytes)
        } else if stats.is_binary() {
            format!(
                "the {} bytes are binary; decompress them, or export a journal with `journalctl -k`",
                stats.bytes
            )
        } else if let Some(system) = self.foreign_system {
            format!("the {} lines seem to be of {system}; only reports of Linux are known", stats.lines)
        } else {
            format!("the {} lines contain none", stats.lines)
        };
        format!(
            "no report of a failed allocation was found: {what}. Looked for page allocation failures, OOM kills, memory \
             listings (Mem-Info), and failures of vmalloc, CMA, hugetlb pools, per-CPU memory and slab caches"
        )
    }
}
