//! `freehold dev new-rule`: starts a crate for a rule of placement.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use freehold_measure::foreign;

use crate::args::NewRule;
use crate::exit::{Cause, Failure};
use crate::output;

/// The rule that a crate starts with.
const RULE: &str = include_str!("../../../lab/examples/rule.rs");

/// The rule's name in it.
const RULE_NAME: &str = "\"my-rule\"";

/// A file that only Freehold's own source has.
const OF_SOURCE: &str = "crates/lab/examples/rule.rs";

/// Freehold's crates that a rule's crate needs, and their folders.
const CRATES: [(&str, &str); 3] =
    [("freehold", "engine"), ("freehold-lab", "lab"), ("freehold-trace", "trace")];

pub(crate) fn run(args: &NewRule) -> Result<(), Failure> {
    let source = source(args)?;
    let folder = args.output.clone().unwrap_or_else(|| PathBuf::from(&args.name));
    let shown = shown(&folder);
    if folder.symlink_metadata().is_ok() {
        let sentence = anyhow!("{shown} exists; name another folder with -o, or move it away");
        return Err(Failure::new(Cause::Output, sentence));
    }
    let written = write(&args.name, &source, &folder).with_context(|| format!("{shown} cannot be written"));
    written.map_err(|error| Failure::new(Cause::Output, error))?;
    output::print(&format!(
        "{shown}/src/main.rs has a rule to begin with. Compare it with the eras:\n  cargo run --release --manifest-path {} -- TRACE.arrows\n",
        quoted(&format!("{shown}/Cargo.toml"))
    ))
}

fn shown(path: &Path) -> String {
    foreign::one_line(&path.to_string_lossy()).into_owned()
}

/// Returns a word as a shell takes it.
fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-".contains(c);
    if word.chars().all(is_plain) { word.to_owned() } else { format!("'{}'", word.replace('\'', r"'\''")) }
}

/// Returns the folder of Freehold's source.
fn source(args: &NewRule) -> Result<PathBuf, Failure> {
    let is_source = |folder: &&Path| folder.join(OF_SOURCE).is_file();
    let unusable = |error: anyhow::Error| Failure::new(Cause::Usage, error);
    if let Some(named) = &args.source {
        let folder = Some(named.as_path()).filter(is_source);
        let found = folder.ok_or_else(|| {
            unusable(anyhow!("{} is not Freehold's source: it has no {OF_SOURCE}", shown(named)))
        })?;
        return found.canonicalize().map_err(|error| unusable(error.into()));
    }
    let here = std::env::current_dir().map_err(|error| Failure::new(Cause::Machine, error))?;
    let found = here.ancestors().find(is_source).map(Path::to_path_buf);
    found.ok_or_else(|| {
        unusable(anyhow!(
            "a rule is compiled with Freehold's source, and neither this folder nor one above is it; name a checkout with --source"
        ))
    })
}

/// Writes the crate beside its place, and moves it there as a whole.
fn write(name: &str, source: &Path, folder: &Path) -> std::io::Result<()> {
    let parent = folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let begun = parent.join(format!(".new-rule-{}", std::process::id()));
    fs::create_dir(&begun)?;
    let written = fill(name, source, &begun).and_then(|()| fs::rename(&begun, folder));
    if written.is_err() {
        // The message is the reason of the failed write.
        let _ = fs::remove_dir_all(&begun);
    }
    written
}

fn fill(name: &str, source: &Path, folder: &Path) -> std::io::Result<()> {
    fs::create_dir(folder.join("src"))?;
    fs::write(folder.join("Cargo.toml"), manifest(name, source)?)?;
    fs::write(folder.join("src/main.rs"), RULE.replace(RULE_NAME, &format!("{name:?}")))?;
    // The versions that Freehold is tested with.
    match fs::copy(source.join("Cargo.lock"), folder.join("Cargo.lock")) {
        Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    }
}

fn manifest(name: &str, source: &Path) -> std::io::Result<String> {
    let source = source.to_str().ok_or_else(|| {
        std::io::Error::new(ErrorKind::InvalidInput, "the path of Freehold's source is not UTF-8")
    })?;
    let dependency = |(name, folder)| {
        // A string of JSON is one of TOML. Parquet and pictures are left out, which take minutes to build.
        let path = serde_json::to_string(&format!("{source}/crates/{folder}"))?;
        Ok(format!("{name} = {{ path = {path}, default-features = false }}\n"))
    };
    let dependencies = CRATES.into_iter().map(dependency).collect::<std::io::Result<String>>()?;
    Ok(format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\npublish = false\n\n[dependencies]\n{dependencies}\n# A crate of its own, wherever it lies.\n[workspace]\n"
    ))
}
