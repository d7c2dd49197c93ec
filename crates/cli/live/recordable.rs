//! Checks whether this machine can be recorded.

use std::sync::LazyLock;

use freehold_needs::{can, is_root};

use crate::common::{folder, run};

/// Returns true if this machine can be recorded; otherwise says that `test` is skipped.
pub(crate) fn can_record(test: &str) -> bool {
    static FOUND: LazyLock<Result<(), String>> = LazyLock::new(|| {
        let folder = folder();
        let output = folder.path().join("probe.arrows").display().to_string();
        let ran = run(["record", "-o", &output, "--duration", "0.01", "--no-occupancy", "--buffer", "1024"]);
        if ran.code == Some(69) {
            return Err(ran.stderr);
        }
        ran.ok();
        Ok(())
    });
    is_root(test) && can(test, || FOUND.clone())
}
