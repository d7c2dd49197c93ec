//! The package for Debian: the program, its manual, completions, the unit for systemd, and what is inside.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;

use super::libraries::succeeds;
use super::processor::Processor;

/// The folder of documents in a package.
const DOCUMENTS: &str = "usr/share/doc/freehold";

const COPYRIGHT: &str = "\
Format: https://www.debian.org/doc/packaging-manuals/copyright-format/1.0/
Upstream-Name: freehold

Files: *
Copyright: the authors of Freehold, and those that licences.txt.gz names
License: GPL-3.0-or-later
Comment: Freehold's own code is GPL-2.0-or-later. The program is linked with crates under the Apache licence 2.0, so
 the whole is distributed under version 3 of the GPL. licences.txt.gz beside this file has the texts of every part,
 freehold.spdx.json the list of parts. The BPF program in it is GPL-2.0-only, and handed to the kernel as data.

License: GPL-3.0-or-later
 On Debian systems, the full text of version 3 of the GNU General Public License is in
 /usr/share/common-licenses/GPL-3.
";

/// What packages of each architecture have alike, made once.
#[derive(Debug)]
pub(crate) struct Texts {
    /// The folder with the manual and the completions.
    pub(crate) folder: PathBuf,
    pub(crate) version: String,
    /// The seconds since 1970 of the commit.
    pub(crate) epoch: String,
}

impl Texts {
    /// Lets a program of this machine write manual and completions: `program`, or the workspace's own.
    ///
    /// # Errors
    /// A sentence, if it does not build.
    pub(crate) fn new(
        root: &Path,
        folder: PathBuf,
        program: Option<&Path>,
        version: &str,
        epoch: &str,
    ) -> Result<Self, String> {
        let freehold = |words: &[&str]| {
            let mut run =
                command(program.map_or("cargo".as_ref(), Path::as_os_str).to_string_lossy().as_ref());
            run.current_dir(root);
            if program.is_none() {
                run.args(["run", "--locked", "--quiet", "--package=freehold-cli", "--"]);
            }
            run.args(words);
            succeeds(&mut run, "freehold does not tell its command line")
        };
        fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        freehold(&["man", &folder.join("man1").to_string_lossy()])?;
        for shell in ["bash", "zsh", "fish"] {
            put(&folder.join(shell), &freehold(&["completions", shell])?)?;
        }
        Ok(Self { folder, version: version.to_owned(), epoch: epoch.to_owned() })
    }
}

/// What a package is made of besides [`Texts`].
#[derive(Debug)]
pub(crate) struct Contents<'a> {
    pub(crate) arch: Processor,
    pub(crate) program: &'a Path,
    pub(crate) spdx: &'a str,
    pub(crate) licences: &'a str,
}

/// Makes the package in `folder` and returns its file.
///
/// # Errors
/// A sentence, if a file cannot be read or written, or `dpkg-deb` fails.
pub(crate) fn make(
    root: &Path,
    texts: &Texts,
    contents: &Contents<'_>,
    folder: &Path,
) -> Result<PathBuf, String> {
    for (program, package) in [("dpkg-deb", "dpkg"), ("gzip", "gzip"), ("md5sum", "coreutils")] {
        require(program, package).map_err(|error| error.to_string())?;
    }
    let tree = Scratch::new().map_err(|error| error.to_string())?;
    let tree = tree.path();
    fill(root, texts, contents, tree)?;
    let files = files(tree)?;
    control(texts, contents.arch, tree, &files)?;
    let place = folder.join(format!("freehold_{}_{}.deb", texts.version, contents.arch.debian()));
    let mut pack = command("dpkg-deb");
    pack.env("SOURCE_DATE_EPOCH", &texts.epoch);
    pack.args(["--root-owner-group", "-Zxz", "--build"]).arg(tree).arg(&place);
    succeeds(&mut pack, "the package cannot be packed")?;
    Ok(place)
}

/// Writes all files of the package.
fn fill(root: &Path, texts: &Texts, contents: &Contents<'_>, tree: &Path) -> Result<(), String> {
    let program = tree.join("usr/bin/freehold");
    put(&program, &get(contents.program)?)?;
    let unit = String::from_utf8_lossy(&get(&root.join("contrib/systemd/freehold.service"))?).into_owned();
    let unit = unit.replace("/usr/local/bin/freehold", "/usr/bin/freehold");
    put(&tree.join("usr/lib/systemd/system/freehold.service"), unit.as_bytes())?;
    for (shell, place) in [
        ("bash", "usr/share/bash-completion/completions/freehold"),
        ("zsh", "usr/share/zsh/vendor-completions/_freehold"),
        ("fish", "usr/share/fish/vendor_completions.d/freehold.fish"),
    ] {
        put(&tree.join(place), &get(&texts.folder.join(shell))?)?;
    }
    let pages = texts.folder.join("man1");
    for page in files(&pages)? {
        packed(&tree.join("usr/share/man/man1").join(&page), &get(&pages.join(&page))?)?;
    }
    let documents = tree.join(DOCUMENTS);
    put(&documents.join("copyright"), COPYRIGHT.as_bytes())?;
    put(&documents.join("freehold.spdx.json"), contents.spdx.as_bytes())?;
    packed(&documents.join("licences.txt"), contents.licences.as_bytes())?;
    packed(&documents.join("changelog"), &get(&root.join("CHANGELOG.md"))?)?;
    for (file, name) in [
        ("README.md", "README.md"),
        ("contrib/prometheus/freehold.rules.yml", "examples/freehold.rules.yml"),
        ("contrib/grafana/freehold.json", "examples/grafana-freehold.json"),
        ("contrib/bpftrace/freehold.bt", "examples/freehold.bt"),
    ] {
        put(&documents.join(name), &get(&root.join(file))?)?;
    }
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755))
        .map_err(|error| format!("{}: {error}", program.display()))
}

/// Writes what dpkg reads: the package's description, and sums of its files.
fn control(texts: &Texts, arch: Processor, tree: &Path, files: &[PathBuf]) -> Result<(), String> {
    let sizes = files.iter().filter_map(|file| Some(fs::metadata(tree.join(file)).ok()?.len()));
    let kib: u64 = sizes.map(|bytes| bytes.div_ceil(1024)).sum();
    let text = format!(
        "Package: freehold\nVersion: {}\nArchitecture: {}\n\
         Maintainer: Freehold's maintainers <freehold@localhost>\nInstalled-Size: {kib}\n\
         Section: admin\nPriority: optional\n\
         Description: says whether large blocks of memory can still be had\n \
         A monitor of the Linux page allocator: a verdict with its reason for blocks of any\n \
         order, the state of memory in the terminal, as a page and for Prometheus; a recorder,\n \
         and a lab that replays recordings through every generation of the allocator.\n",
        texts.version,
        arch.debian()
    );
    put(&tree.join("DEBIAN/control"), text.as_bytes())?;
    let mut sum = command("md5sum");
    sum.current_dir(tree).arg("--").args(files);
    let sums = succeeds(&mut sum, "the package's files cannot be summed up")?;
    put(&tree.join("DEBIAN/md5sums"), &sums)
}

/// Returns the paths of all files below a folder, in their order.
fn files(folder: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut open = vec![PathBuf::new()];
    while let Some(below) = open.pop() {
        let path = folder.join(&below);
        let entries = fs::read_dir(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        for entry in entries.flatten() {
            let name = below.join(entry.file_name());
            if entry.path().is_dir() { open.push(name) } else { found.push(name) }
        }
    }
    found.sort();
    Ok(found)
}

fn get(path: &Path) -> Result<Vec<u8>, String> {
    fs::read(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// Writes a file and makes its folders, readable by everyone.
fn put(path: &Path, bytes: &[u8]) -> Result<(), String> {
    let said = |error| format!("{}: {error}", path.display());
    for folder in path.parent().into_iter().flat_map(Path::ancestors).take_while(|folder| !folder.exists()) {
        fs::create_dir_all(folder).map_err(said)?;
    }
    fs::write(path, bytes).map_err(said)?;
    fs::set_permissions(path, fs::Permissions::from_mode(0o644)).map_err(said)
}

/// Writes a file as gzip does, without name and time in it.
fn packed(path: &Path, bytes: &[u8]) -> Result<(), String> {
    put(path, bytes)?;
    succeeds(command("gzip").arg("-9n").arg(path), "gzip fails").map(drop)
}
