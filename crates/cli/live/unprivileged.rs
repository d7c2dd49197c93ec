//! Without root: what is missing and what still works.

use std::fs;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::Path;
use std::process::Command;

use freehold_needs::{has_program, is_root};

use crate::common::copied_machine::{copy_machine, each_command_copes, files};
use crate::common::manifests::{daemonset, strings};
use crate::common::{self, finish, freehold, made_up_trace, names, run, sample};

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
    ran.fails(69, &["is open to root only", "can still be imported", "as root"]);
    assert_eq!(names(folder.path()), ["freehold"]);
    fs::write(folder.path().join("old.arrows"), "precious").unwrap();
    fs::set_permissions(folder.path().join("old.arrows"), fs::Permissions::from_mode(0o666)).unwrap();
    let ran = finish(unprivileged_command(folder.path(), &["record", "-o", "old.arrows", "--force"]));
    ran.fails(69, &["is open to root only"]);
    assert_eq!(fs::read(folder.path().join("old.arrows")).unwrap(), b"precious");
}

#[test]
fn comparing_works() {
    let Some(folder) = open_folder("comparing_works") else { return };
    let (_other, trace) = common::small_trace();
    fs::copy(trace, folder.path().join("small.arrows")).unwrap();
    let table =
        finish(unprivileged_command(folder.path(), &["compare", "small.arrows", "--timing-rounds", "1"]))
            .ok();
    assert!(table.stdout.contains("Changes by era"), "{}", table.stdout);
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
    ran.fails(66, &["closed.arrows", "cannot be opened", "check"]);
    let args = ["import", "x.txt", "--zoneinfo", "zoneinfo", "--pagetypeinfo", "p", "-o", "out.arrows"];
    finish(unprivileged_command(folder.path(), &args)).fails(66, &["zoneinfo", "Make it readable"]);
    fs::create_dir(folder.path().join("shut")).unwrap();
    let args = ["trace", "repack", "small.arrows", "-o", "shut/out.arrows"];
    fs::copy(sample("thp-churn.arrows"), folder.path().join("small.arrows")).unwrap();
    finish(unprivileged_command(folder.path(), &args))
        .fails(74, &["shut/out.arrows", "a folder that you may write to"]);
    assert_eq!(names(&folder.path().join("shut")), [""; 0]);
    assert_eq!(run(["trace", "info", &sample("thp-churn.arrows")]).code, Some(0));
    drop(freehold(["--version"]));
}

#[test]
fn links_of_others_are_not_followed() {
    if !is_root("links_of_others_are_not_followed") {
        return;
    }
    let (folder, trace) = made_up_trace();
    let [victim, link, own] = ["victim", "link", "own"].map(|name| folder.path().join(name));
    fs::write(&victim, "precious").unwrap();
    symlink("victim", &link).unwrap();
    std::os::unix::fs::lchown(&link, Some(65_534), Some(65_534)).unwrap();
    let trace = trace.to_str().unwrap();
    run(["trace", "repack", trace, "--force", "-o", link.to_str().unwrap()])
        .fails(64, &["link is a symbolic link of another user", "name the file behind it"]);
    assert_eq!(fs::read(&victim).unwrap(), b"precious");
    // One's own link stays, and the file behind it is replaced, with its rights and owner.
    symlink("victim", &own).unwrap();
    fs::set_permissions(&victim, fs::Permissions::from_mode(0o640)).unwrap();
    chown(&victim, Some(65_534), Some(65_534)).unwrap();
    run(["trace", "repack", trace, "--force", "-o", own.to_str().unwrap()]).ok();
    let (there, link) = (fs::metadata(&victim).unwrap(), own.symlink_metadata().unwrap());
    assert!(link.is_symlink() && there.len() > 1000);
    assert_eq!(there.permissions().mode() & 0o7777, 0o640);
    assert_eq!(std::os::unix::fs::MetadataExt::uid(&there), 65_534);
}

#[test]
fn the_rights_of_the_daemonset_are_enough() {
    let name = "the_rights_of_the_daemonset_are_enough";
    if !is_root(name) || !has_program("setpriv", name) {
        return;
    }
    let documents = daemonset();
    let context = &documents[1]["spec"]["template"]["spec"]["containers"][0]["securityContext"];
    let added = strings(&context["capabilities"]["add"]);
    assert!(!added.is_empty());
    let bounds: Vec<_> = added.iter().map(|capability| format!(",+{}", capability.to_lowercase())).collect();
    let mut setpriv = Command::new("setpriv");
    setpriv
        .arg(format!("--bounding-set=-all{}", bounds.concat()))
        .args(["--inh-caps=-all", "--no-new-privs"]);
    setpriv.arg(env!("CARGO_BIN_EXE_freehold")).args(["snapshot", "--format", "metrics"]);
    let output = setpriv.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("when=\"after-reclaim-and-compaction\""), "{output:?}");
    if cfg!(feature = "bpf") {
        assert!(text.contains("freehold_sensor_source{source=\"bpf\"} 1"), "{output:?}");
    }
}

/// A machine that refuses single files, as Android's rules do.
#[test]
fn each_file_may_be_refused() {
    let Some(folder) = open_folder("each_file_may_be_refused") else { return };
    let machine = folder.path().join("machine");
    copy_machine(&machine);
    for file in files(&machine, Path::new("")) {
        let path = machine.join(&file);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o000)).expect("its mode");
        each_command_copes(|| unprivileged_command(folder.path(), &[]), &machine, &file, "refused");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).expect("its mode");
    }
}
