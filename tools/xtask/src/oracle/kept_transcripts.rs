//! The transcripts that the tests keep.

use std::fs;
use std::path::{Path, PathBuf};

use freehold_oracle::families::Family;
use freehold_oracle::{Golden, Script, ScriptError, Verdict};

use super::campaign::play;
use super::error::{OracleError, OracleResult};
use super::tree::BuiltKernel;

/// The seed of the families' transcripts.
const SEED: u64 = 2026;

/// Operations of each of these transcripts.
const OPERATIONS: usize = 12_000;

/// The prefix of scripts that once showed a difference, or are made to show one.
const FOUND: &str = "found-";

/// Makes a kernel's kept transcripts again: those of its families, and those of kept scripts.
///
/// A transcript that differs from the engine is printed and not kept. Returns true if there was none.
///
/// # Errors
/// See [`OracleError`].
pub fn regenerate(kernel: &BuiltKernel, families: &[Family], folder: &Path) -> OracleResult<bool> {
    // All kept scripts are read before anything is written.
    let kept = found(kernel)?;
    let mut agreed = true;
    for family in families {
        let script = family.script(SEED, OPERATIONS, kernel.version());
        agreed &= keep(kernel, family.name(), &script, folder)?;
    }
    for (name, script) in &kept {
        agreed &= keep(kernel, name, script, folder)?;
    }
    Ok(agreed)
}

/// Keeps the script in a file, and its transcript, under the file's name.
///
/// # Errors
/// See [`OracleError`].
pub fn keep_file(kernel: &BuiltKernel, path: &Path, folder: &Path) -> OracleResult<bool> {
    let bytes = fs::read(path).map_err(OracleError::file(path))?;
    let (script, _) = Script::from_bytes(&bytes)
        .and_then(
            |(script, taken)| {
                if taken == bytes.len() { Ok((script, taken)) } else { Err(ScriptError::Longer) }
            },
        )
        .map_err(|error| OracleError::Golden { path: path.to_owned(), error: error.into() })?;
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or("script");
    keep(kernel, &format!("{FOUND}{}", name.trim_start_matches(FOUND)), &script, folder)
}

/// Returns the kept scripts of a kernel that are not a family's, with their names.
fn found(kernel: &BuiltKernel) -> OracleResult<Vec<(String, Script)>> {
    let folder = home(kernel);
    let entries = fs::read_dir(&folder).map_err(OracleError::file(&folder))?;
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let named = paths.iter().filter_map(|path| Some((path.file_stem()?.to_str()?, path)));
    named
        .filter(|(name, _)| name.starts_with(FOUND))
        .map(|(name, path)| {
            let unusable = |error| OracleError::Golden { path: path.clone(), error };
            Ok((name.to_owned(), Golden::open(path).map_err(unusable)?.script))
        })
        .collect()
}

fn home(kernel: &BuiltKernel) -> PathBuf {
    Golden::folder().join(kernel.version().name())
}

fn keep(kernel: &BuiltKernel, name: &str, script: &Script, folder: &Path) -> OracleResult<bool> {
    let played = play(kernel, script, folder, name)?;
    if let Verdict::Differs(divergence) = played.verdict(script)? {
        println!("Linux {} {name}: {divergence}", kernel.version());
        return Ok(false);
    }
    let home = home(kernel);
    fs::create_dir_all(&home).map_err(OracleError::file(&home))?;
    let path = home.join(format!("{name}.zst"));
    let packed = Golden::pack(script, &played.bytes()?).map_err(OracleError::file(&path))?;
    println!("{} {} bytes", path.display(), packed.len());
    fs::write(&path, packed).map_err(OracleError::file(&path))?;
    Ok(true)
}
