//! The parts of a program or a wheel: crates, C libraries inside crates, and the compiler's libraries.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::process::command;

use super::libraries::{manifests, sources, succeeds};

/// A part of a program or a wheel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    pub(crate) version: String,
    /// The licence as an expression of SPDX.
    pub(crate) licence: String,
    /// The SHA-256 of the crate's archive; `None` if the part is not a crate of the registry.
    pub(crate) sum: Option<String>,
    /// The folder of its source; `None` for the compiler's libraries.
    pub(crate) folder: Option<PathBuf>,
}

/// A product of the release.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Whole {
    /// The static program.
    Program,
    /// The library in a wheel, which uses the machine's C library.
    Wheel,
}

/// Returns the parts of a product for one of the compiler's targets, in the order of their names.
///
/// # Errors
/// If cargo fails.
pub(crate) fn parts(whole: Whole, target: &str, root: &Path) -> Result<Vec<Part>, String> {
    let mut tree = command("cargo");
    tree.current_dir(root).args(["tree", "--locked"]);
    tree.args(match whole {
        Whole::Program => ["--package=freehold-cli", "--features=bpf-static"].as_slice(),
        Whole::Wheel => &["--package=freehold-python"],
    });
    tree.args(["--edges=normal,no-proc-macro", "--target", target]);
    tree.args(["--prefix=none", "--no-dedupe", "--format={p}\t{l}"]);
    let text = String::from_utf8_lossy(&succeeds(&mut tree, "cargo does not list crates")?).into_owned();
    let lock = root.join("Cargo.lock");
    let lock = fs::read_to_string(&lock).map_err(|error| format!("{}: {error}", lock.display()))?;
    let sums = sums(&lock);
    let folders: BTreeMap<_, _> = manifests(root)?
        .into_iter()
        .filter_map(|(name, version, path)| Some(((name, version), path.parent()?.to_owned())))
        .collect();
    let mut parts: Vec<Part> = text.lines().filter_map(crate_of).collect();
    for part in &mut parts {
        let key = (part.name.clone(), part.version.clone());
        part.sum = sums.get(&key).cloned();
        part.folder = folders.get(&key).cloned();
    }
    if let Whole::Program = whole {
        parts.extend(carried(&sources(root)?)?);
    }
    parts.extend(of_the_compiler(whole)?);
    parts.sort_by(|one, other| (&one.name, &one.version).cmp(&(&other.name, &other.version)));
    parts.dedup_by(|one, other| (&one.name, &one.version) == (&other.name, &other.version));
    Ok(parts)
}

/// Returns the crate of a line of `cargo tree`.
fn crate_of(line: &str) -> Option<Part> {
    let (package, licence) = line.split_once('\t')?;
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
    Some(Part {
        name: name.to_owned(),
        version: version.to_owned(),
        licence: licence.replace('/', " OR "),
        sum: None,
        folder: None,
    })
}

/// Returns the checksums of `Cargo.lock` by name and version.
fn sums(lock: &str) -> BTreeMap<(String, String), String> {
    let of = |package: &str| {
        let field = |name: &str| {
            let mut lines = package.lines().filter_map(|line| line.split_once(" = "));
            Some(lines.find(|(key, _)| *key == name)?.1.trim_matches('"').to_owned())
        };
        Some(((field("name")?, field("version")?), field("checksum")?))
    };
    lock.split("[[package]]").skip(1).filter_map(of).collect()
}

/// Returns the C libraries whose sources are in libbpf-sys.
fn carried(sources: &Path) -> Result<Vec<Part>, String> {
    let word = |file: &str, before: &str, after: char| {
        let path = sources.join(file);
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let found = text.split_once(before).and_then(|(_, rest)| Some(rest.split_once(after)?.0.to_owned()));
        found.ok_or_else(|| format!("{} does not state its version", path.display()))
    };
    let part = |name: &str, version: String, licence: &str| Part {
        name: name.to_owned(),
        version,
        licence: licence.to_owned(),
        sum: None,
        folder: Some(sources.join(name)),
    };
    Ok(vec![
        part("zlib", word("zlib/zlib.h", "ZLIB_VERSION \"", '"')?, "Zlib"),
        part(
            "elfutils",
            word("elfutils/configure.ac", "AC_INIT([elfutils],[", ']')?,
            "LGPL-3.0-or-later OR GPL-2.0-or-later",
        ),
        part("libbpf", libbpf(sources), "BSD-2-Clause OR LGPL-2.1-only"),
    ])
}

/// Returns the version of libbpf, which follows the plus in the crate's version.
fn libbpf(sources: &Path) -> String {
    let name = sources.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.rsplit_once("+v").map_or_else(String::new, |(_, version)| version.to_owned())
}

/// Returns the compiler's own libraries.
fn of_the_compiler(whole: Whole) -> Result<Vec<Part>, String> {
    let said = succeeds(command("rustc").arg("--version"), "rustc does not print its version")?;
    let said = String::from_utf8_lossy(&said).into_owned();
    let version = said.split(' ').nth(1).unwrap_or_default().to_owned();
    let part = |name: &str, licence: &str| Part {
        name: name.to_owned(),
        version: format!("of Rust {version}"),
        licence: licence.to_owned(),
        sum: None,
        folder: None,
    };
    let mut parts =
        vec![part("std", "MIT OR Apache-2.0"), part("libunwind", "Apache-2.0 WITH LLVM-exception")];
    if let Whole::Program = whole {
        parts.push(part("musl", "MIT"));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_tree_is_a_crate() {
        let part = crate_of("libc v0.2.191\tMIT/Apache-2.0").unwrap();
        assert_eq!((part.name.as_str(), part.version.as_str()), ("libc", "0.2.191"));
        assert_eq!(part.licence, "MIT OR Apache-2.0");
        assert_eq!(crate_of(""), None);
    }

    #[test]
    fn checksums_are_found_by_name_and_version() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nsource = \"x\"\nchecksum = \"ab\"\n\n[[package]]\nname = \"own\"\nversion = \"0.1.0\"\n";
        let sums = sums(lock);
        assert_eq!(sums.len(), 1);
        assert_eq!(sums[&("a".to_owned(), "1.0.0".to_owned())], "ab");
    }
}
