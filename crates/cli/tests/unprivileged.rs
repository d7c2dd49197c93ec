//! Without root: what is missing and what still works.

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;

use common::{finish, freehold, names, run, sample};
use freehold_needs::is_root;

/// A folder that anybody may use, with a copy of the binary, or `None` where this process
/// cannot become another user.
fn open_folder(test: &str) -> Option<tempfile::TempDir> {
    let folder = common::folder();
    fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o777)).unwrap();
    let binary = folder.path().join("freehold");
    fs::copy(env!("CARGO_BIN_EXE_freehold"), &binary).unwrap();
    freehold_needs::unprivileged_command(&binary, &["--version"], test).map(|_| folder)
}

/// The binary in `folder` as a user without rights.
fn unprivileged_command(folder: &Path, args: &[&str]) -> Command {
    let command = freehold_needs::unprivileged_command(
        &folder.join("freehold"),
        &["--version"],
        "unprivileged_command",
    );
    let mut command = command.expect("a process of another user, as before");
    command.args(args).current_dir(folder);
    command
}

#[test]
fn recording_says_what_is_missing() {
    let Some(folder) = open_folder("recording_says_what_is_missing") else { return };
    let ran = finish(unprivileged_command(folder.path(), &["record", "-o", "out.arrows", "--", "true"]));
    ran.fails(3, &["is open to root only", "can still be imported", "as root"]);
    assert_eq!(names(folder.path()), ["freehold"]);
    fs::write(folder.path().join("old.arrows"), "precious").unwrap();
    fs::set_permissions(folder.path().join("old.arrows"), fs::Permissions::from_mode(0o666)).unwrap();
    let ran = finish(unprivileged_command(folder.path(), &["record", "-o", "old.arrows", "--force"]));
    ran.fails(3, &["is open to root only"]);
    assert_eq!(fs::read(folder.path().join("old.arrows")).unwrap(), b"precious");
}

#[test]
fn comparing_works() {
    let Some(folder) = open_folder("comparing_works") else { return };
    let (_other, trace) = common::small_trace();
    fs::copy(trace, folder.path().join("small.arrows")).unwrap();
    let table =
        finish(unprivileged_command(folder.path(), &["compare", "small.arrows", "--repeat", "1"])).ok();
    assert!(table.stdout.contains("What each era would change"), "{}", table.stdout);
}

#[test]
fn files_of_others() {
    if !is_root("files_of_others") {
        return;
    }
    let Some(folder) = open_folder("files_of_others") else { return };
    let closed = |name: &str, from: &str| {
        fs::copy(from, folder.path().join(name)).unwrap();
        fs::set_permissions(folder.path().join(name), fs::Permissions::from_mode(0o600)).unwrap();
    };
    closed("closed.arrows", &sample("thp-churn.arrows"));
    closed("zoneinfo", &common::fixture("zoneinfo"));
    let ran = finish(unprivileged_command(folder.path(), &["compare", "closed.arrows"]));
    ran.fails(2, &["closed.arrows", "cannot be opened", "check"]);
    let args = ["import", "x.txt", "--zoneinfo", "zoneinfo", "--pagetypeinfo", "p", "-o", "out.arrows"];
    finish(unprivileged_command(folder.path(), &args)).fails(2, &["zoneinfo", "Make it readable"]);
    fs::create_dir(folder.path().join("shut")).unwrap();
    let args = ["trace", "repack", "small.arrows", "-o", "shut/out.arrows"];
    fs::copy(sample("thp-churn.arrows"), folder.path().join("small.arrows")).unwrap();
    finish(unprivileged_command(folder.path(), &args))
        .fails(4, &["shut/out.arrows", "a folder that you may write to"]);
    assert_eq!(names(&folder.path().join("shut")), [""; 0]);
    assert_eq!(run(["trace", "info", &sample("thp-churn.arrows")]).code, Some(0));
    drop(freehold(["--version"]));
}
