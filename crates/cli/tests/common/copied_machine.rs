//! The files of a machine as a copy of one's own, of which single ones can be out of reach.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Ran, finish};

/// An arm64 machine with a CMA area.
const MACHINE: &str = "../linux/tests/fixtures/linux-6.12-arm64";

/// Files without which a command has nothing to say.
const NEEDED: [&str; 2] = ["proc/zoneinfo", "proc/buddyinfo"];

/// The paths of all files below a folder.
pub(crate) fn files(folder: &Path, below: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder.join(below)).expect("a folder").flatten() {
        let path = below.join(entry.file_name());
        if entry.path().is_dir() { found.extend(files(folder, &path)) } else { found.push(path) }
    }
    found.sort();
    found
}

/// Copies the machine's files, readable by everyone.
pub(crate) fn copy_machine(place: &Path) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join(MACHINE);
    for file in files(&from, Path::new("")) {
        let to = place.join(&file);
        fs::create_dir_all(to.parent().expect("a parent")).expect("a folder");
        fs::copy(from.join(&file), &to).expect("a file");
        fs::set_permissions(&to, fs::Permissions::from_mode(0o644)).expect("its mode");
    }
}

/// Runs a command on the machine in `root`.
pub(crate) fn run_on(mut command: Command, root: &Path, words: &str) -> Ran {
    command.args(words.split(' ')).arg("--root").arg(root);
    finish(command)
}

/// Holds what each command says of a machine on which `file` is out of reach. `start` makes a command without arguments.
pub(crate) fn each_command_copes(start: impl Fn() -> Command, root: &Path, file: &Path, how: &str) {
    let is_needed = NEEDED.iter().any(|needed| file == Path::new(needed));
    for words in [
        "check --order 3",
        "snapshot --format json",
        "snapshot --format buddyinfo",
        "watch --above free_pages=1",
    ] {
        let ran = run_on(start(), root, words);
        let context =
            format!("{words}, {} {how}: {:?}\n{}{}", file.display(), ran.code, ran.stdout, ran.stderr);
        let code = ran.code.expect("an exit code");
        if is_needed && code != 0 {
            let name = file.file_name().expect("a name").to_string_lossy().into_owned();
            assert!(
                matches!(code, 2 | 3) && format!("{}{}", ran.stdout, ran.stderr).contains(&name),
                "{context}"
            );
        } else {
            assert!(if words.starts_with("check") { code <= 3 } else { code == 0 }, "{context}");
        }
    }
}
