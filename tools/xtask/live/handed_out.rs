//! Tests that the package of `cargo xtask dist` below `target/handed-out` installs and runs in an empty root.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use freehold_needs::{can, has_program, is_root};

/// The folder of the release.
fn folder() -> PathBuf {
    xtask::root().join("target/handed-out")
}

/// Returns the package for this machine; otherwise skips `test`.
fn package(test: &str) -> Option<PathBuf> {
    let architecture = if cfg!(target_arch = "x86_64") { "amd64" } else { "arm64" };
    let place = folder().join(format!("freehold_{}_{architecture}.deb", env!("CARGO_PKG_VERSION")));
    let is_there =
        || place.is_file().then_some(()).ok_or_else(|| "`cargo xtask dist` has not been run".to_owned());
    can(test, is_there).then_some(place)
}

fn ran(command: &mut Command) -> Output {
    command.output().expect("the command can be started")
}

/// A root that contains only the package.
struct Root(tempfile::TempDir);

impl Root {
    fn with(package: &Path) -> Self {
        let root = tempfile::tempdir().expect("a folder");
        for folder in ["var/lib/dpkg/info", "var/lib/dpkg/updates", "proc", "sys", "tmp"] {
            fs::create_dir_all(root.path().join(folder)).expect("a folder");
        }
        fs::write(root.path().join("var/lib/dpkg/status"), "").expect("a file");
        let mut dpkg = Command::new("dpkg");
        dpkg.arg(format!("--root={}", root.path().display())).arg("--force-architecture");
        let installed = ran(dpkg.arg("--install").arg(package));
        assert!(installed.status.success(), "{}", String::from_utf8_lossy(&installed.stderr));
        Self(root)
    }

    /// Runs the installed program in the root, which sees this machine's `/proc` and `/sys`.
    fn freehold(&self, words: &str) -> (Option<i32>, String) {
        let inside = "mount --rbind /proc \"$0/proc\" && mount --rbind /sys \"$0/sys\" && exec chroot \"$0\" /usr/bin/freehold ";
        let mut shell = Command::new("unshare");
        shell.args(["--mount", "sh", "-c", &format!("{inside}{words}")]).arg(self.0.path());
        let output = ran(&mut shell);
        let said = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
        (output.status.code(), said.into_owned())
    }
}

#[test]
fn package_runs_in_an_empty_root() {
    let test = "package_runs_in_an_empty_root";
    let Some(package) = package(test) else { return };
    if !is_root(test) || !has_program("dpkg", test) || !has_program("unshare", test) {
        return;
    }
    let root = Root::with(&package);
    let (code, said) = root.freehold("--version");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("sensor: BPF and /proc; libc: musl, static"), "{said}");
    // The README's commands.
    let (code, said) = root.freehold("check --need 2M=200");
    assert!(code.is_some_and(|code| code < 3), "{code:?}: {said}");
    assert!(said.contains("200 blocks of 2 MiB (order 9)"), "{said}");
    let (code, said) = root.freehold("dev generate mmap-read -o /tmp/m.arrows");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = root.freehold("replay /tmp/m.arrows --era linux-6.12");
    assert_eq!(code, Some(0), "{said}");
    let (code, said) = root.freehold("snapshot");
    assert_eq!(code, Some(0), "{said}");
    assert!(said.contains("Free pages count per migrate type at order"), "{said}");
    // The sensor's object loads if this kernel allows it.
    let (code, said) = root.freehold("snapshot --sensor bpf --format buddyinfo");
    let can_load = Path::new("/sys/kernel/btf/vmlinux").exists();
    assert_eq!(code, Some(if can_load { 0 } else { 3 }), "{said}");
}

#[test]
fn the_package_has_manual_completions_unit_and_licences() {
    let test = "the_package_has_manual_completions_unit_and_licences";
    let Some(package) = package(test) else { return };
    if !has_program("dpkg-deb", test) {
        return;
    }
    let tree = tempfile::tempdir().expect("a folder");
    assert!(ran(Command::new("dpkg-deb").arg("-x").arg(&package).arg(tree.path())).status.success());
    for file in [
        "usr/bin/freehold",
        "usr/share/man/man1/freehold.1.gz",
        "usr/share/man/man1/freehold-check.1.gz",
        "usr/share/bash-completion/completions/freehold",
        "usr/share/zsh/vendor-completions/_freehold",
        "usr/share/fish/vendor_completions.d/freehold.fish",
        "usr/share/doc/freehold/copyright",
        "usr/share/doc/freehold/licences.txt.gz",
        "usr/share/doc/freehold/freehold.spdx.json",
    ] {
        assert!(tree.path().join(file).is_file(), "no {file}");
    }
    let unit =
        fs::read_to_string(tree.path().join("usr/lib/systemd/system/freehold.service")).expect("the unit");
    assert!(unit.contains("ExecStart=/usr/bin/freehold serve "), "{unit}");
    let list =
        fs::read_to_string(tree.path().join("usr/share/doc/freehold/freehold.spdx.json")).expect("the list");
    let list: serde_json::Value = serde_json::from_str(&list).expect("JSON");
    let names: Vec<_> =
        list["packages"].as_array().expect("packages").iter().map(|part| &part["name"]).collect();
    for name in ["freehold", "libbpf", "elfutils", "zlib", "musl", "arrow-ipc"] {
        assert!(names.iter().any(|part| *part == name), "{name} is not on the list");
    }
    let info = ran(Command::new("dpkg-deb").arg("-f").arg(&package).arg("Depends"));
    assert_eq!(String::from_utf8_lossy(&info.stdout).trim(), "", "a static program depends on nothing");
}

#[test]
fn checksums_match_the_files() {
    let test = "checksums_match_the_files";
    if package(test).is_none() {
        return;
    }
    let checked =
        ran(Command::new("sha256sum").args(["--check", "--quiet", "SHA256SUMS"]).current_dir(folder()));
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stdout));
}
