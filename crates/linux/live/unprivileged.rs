//! What a user without rights sees of a machine. It takes root to become one.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use freehold_linux::sensor::Source;
use freehold_needs::{is_root, unprivileged_command};

use crate::roots::{FILES, copy, only_that_is_missing, sampler, two_samples};

/// Runs this test of this binary again as a user without rights, with `root` to look at.
///
/// Returns false where that is not possible, and says by name that `test` was skipped.
fn passes_as_nobody(test: &str, root: &Path) -> bool {
    let folder = tempfile::tempdir().unwrap();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let binary = folder.path().join("tests");
    fs::copy(std::env::current_exe().unwrap(), &binary).unwrap();
    if !is_root(test) {
        return false;
    }
    let Some(mut command) = unprivileged_command(&binary, &["--list"], test) else { return false };
    let ran =
        command.args(["--exact", test, "--nocapture"]).env("FREEHOLD_ROOT_OF_NOBODY", root).output().unwrap();
    assert!(
        ran.status.success(),
        "{}{}",
        String::from_utf8_lossy(&ran.stdout),
        String::from_utf8_lossy(&ran.stderr)
    );
    true
}

/// The root that a test is to look at as a user without rights, where it was started as one.
fn root_of_nobody() -> Option<std::path::PathBuf> {
    std::env::var_os("FREEHOLD_ROOT_OF_NOBODY").map(Into::into)
}

#[test]
fn a_closed_file_is_missed_alone() {
    if let Some(root) = root_of_nobody() {
        let closed = FILES.iter().find(|name| fs::File::open(root.join(name)).is_err()).unwrap();
        return only_that_is_missing(&two_samples(&root).unwrap(), closed, "closed");
    }
    for closed in FILES {
        let folder = copy("linux-5.10-numa");
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o755)).unwrap();
        fs::set_permissions(folder.path().join(closed), fs::Permissions::from_mode(0o400)).unwrap();
        if !passes_as_nobody("unprivileged::a_closed_file_is_missed_alone", folder.path()) {
            return;
        }
    }
}

#[test]
fn anybody_may_sample_the_running_machine() {
    if root_of_nobody().is_none() {
        passes_as_nobody("unprivileged::anybody_may_sample_the_running_machine", Path::new("/"));
        return;
    }
    let mut sampler = sampler(Path::new("/"));
    for _ in 0..2 {
        let sample = sampler.sample().unwrap();
        assert_eq!((sample.free.source, sample.free.types_time_ns), (Source::Buddyinfo, None));
        assert!(sample.free.zones.iter().any(|zone| zone.free_pages() > 0));
        assert!(sample.free.zones.iter().all(|zone| zone.by_type.is_none()));
        let note = sample.notes.iter().find(|note| note.contains("/proc/pagetypeinfo")).unwrap();
        assert!(note.contains("as root"), "{note}");
        // Whatever else this machine keeps from everybody is named too.
        assert_eq!(sample.counters.is_empty(), sample.notes.iter().any(|note| note.contains("/proc/vmstat")));
        assert_eq!(sample.zones.is_empty(), sample.notes.iter().any(|note| note.contains("/proc/zoneinfo")));
    }
}
