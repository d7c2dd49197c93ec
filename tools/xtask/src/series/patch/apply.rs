//! Applies patches to copies of a source tree's files; the tree itself is only read.
//!
//! Each patch sees the files as the patches before it left them. A semantic patch that changes other
//! places than its head names is an error, so the outcome is complete or absent.

use std::collections::BTreeMap;
use std::path::Path;

use super::changed::changed;
use super::hunk::Hunk;
use super::patches::Patch;
use crate::kernel::error::tail;
use crate::kernel::files::read;
use crate::kernel::process::{command, require};
use crate::kernel::scratch::Scratch;
use crate::kernel::{KernelVersion, source};
use crate::series::error::{Misfit, SeriesError, SeriesResult};
use crate::series::place::Place;

/// The most lines of Coccinelle's output in an error.
const SPATCH_LINES: usize = 8;

/// The changes of one patch to a kernel.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Applied {
    /// The patch's name.
    pub patch: String,
    /// The files that it changes or adds, by their paths.
    pub files: BTreeMap<String, Change>,
}

/// A file before and after a patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Change {
    /// The text before; `None` if the patch adds the file.
    pub before: Option<String>,
    /// The text after.
    pub after: String,
}

/// Returns the final texts of all files that some patches change.
pub fn outcome(applied: &[Applied]) -> BTreeMap<String, String> {
    let files = applied.iter().flat_map(|applied| &applied.files);
    files.map(|(name, change)| (name.clone(), change.after.clone())).collect()
}

/// Applies patches, in order, to the source of a kernel.
///
/// # Errors
/// If `tree` is not that kernel or already contains the series, or a hunk does not fit; see
/// [`SeriesError`].
pub fn apply(patches: &[Patch], tree: &Path, version: KernelVersion) -> SeriesResult<Vec<Applied>> {
    check(patches, tree, version)?;
    if patches.iter().any(|patch| !patch.hunks.is_empty()) {
        require("spatch", "coccinelle")?;
    }
    let mut bench = Bench { tree, version, scratch: Scratch::new()?, now: BTreeMap::new() };
    patches.iter().map(|patch| bench.patch(patch)).collect()
}

/// Checks that a source tree can be patched.
///
/// # Errors
/// If it is another kernel or already contains a part of the series.
pub fn check(patches: &[Patch], tree: &Path, version: KernelVersion) -> SeriesResult<()> {
    source::check(version, tree)?;
    for patch in patches {
        if let Some(file) = patch.new.keys().find(|file| tree.join(file).exists()) {
            let (tree, patch, file) = (tree.to_owned(), patch.name.clone(), file.clone());
            return Err(SeriesError::AlreadyPatched { tree, patch, file });
        }
    }
    Ok(())
}

/// The files while they are changed.
struct Bench<'a> {
    tree: &'a Path,
    version: KernelVersion,
    scratch: Scratch,
    /// The changed files with their current texts.
    now: BTreeMap<String, String>,
}

impl Bench<'_> {
    fn patch(&mut self, patch: &Patch) -> SeriesResult<Applied> {
        let mut before = BTreeMap::new();
        for hunk in &patch.hunks {
            for (file, places) in hunk.files(self.version) {
                let text = self.text(file, &hunk.name())?;
                let after = self.hunk(hunk, file, &places, &text)?;
                self.put(&mut before, file, Some(text), after);
            }
        }
        let version = self.version;
        for line in patch.lines.iter().filter(|line| line.is_for(version)) {
            let name = format!("{}/lines", patch.name);
            let text = self.text(&line.file, &name)?;
            let after = line.put_into(&text).map_err(|fault| self.misfit(name, fault))?;
            self.put(&mut before, &line.file, Some(text), after);
        }
        for (file, text) in &patch.new {
            let old = self.now.get(file).cloned();
            self.put(&mut before, file, old, text.clone());
        }
        let files = before.into_iter().map(|(file, before)| {
            let after = self.now[&file].clone();
            (file, Change { before, after })
        });
        Ok(Applied { patch: patch.name.clone(), files: files.collect() })
    }

    /// Records a file's new text, and its text before this patch.
    fn put(
        &mut self,
        before: &mut BTreeMap<String, Option<String>>,
        file: &str,
        old: Option<String>,
        new: String,
    ) {
        before.entry(file.to_owned()).or_insert(old);
        self.now.insert(file.to_owned(), new);
    }

    /// Returns the current text of a file.
    fn text(&self, file: &str, hunk: &str) -> SeriesResult<String> {
        if let Some(text) = self.now.get(file) {
            return Ok(text.clone());
        }
        let path = self.tree.join(file);
        if path.is_file() {
            return Ok(read(&path)?);
        }
        Err(self.misfit(hunk.to_owned(), Misfit::NoFile(file.to_owned())))
    }

    /// Returns the file's text with the hunk applied.
    fn hunk(&self, hunk: &Hunk, file: &str, places: &[&Place], text: &str) -> SeriesResult<String> {
        let misfit = |fault| self.misfit(hunk.name(), fault);
        let before = self.scratch.write(&format!("before/{file}"), text)?;
        let after = self.scratch.write(&format!("after/{file}"), text)?;
        self.spatch(hunk, file, &after)?;
        let found = changed(&before, &after)?;
        let found = found.into_iter().map(|holder| Place { file: file.to_owned(), holder });
        match difference(places, found.collect()) {
            None => Ok(read(&after)?),
            Some(fault) => Err(misfit(fault)),
        }
    }

    fn spatch(&self, hunk: &Hunk, file: &str, path: &Path) -> SeriesResult<()> {
        let failed = |said: String| self.misfit(hunk.name(), Misfit::Spatch { file: file.to_owned(), said });
        let rules = std::path::absolute(&hunk.path).map_err(SeriesError::file(&hunk.path))?;
        let mut spatch = command("spatch");
        spatch.args(["--very-quiet", "--no-includes", "--in-place", "--sp-file"]).arg(rules).arg(path);
        let output = spatch.current_dir(self.scratch.path()).output();
        let output = output.map_err(|error| failed(error.to_string()))?;
        if output.status.success() {
            return Ok(());
        }
        let said = [output.stdout, output.stderr].concat();
        Err(failed(format!("\n{}", tail(&String::from_utf8_lossy(&said), SPATCH_LINES))))
    }

    fn misfit(&self, hunk: String, fault: Misfit) -> SeriesError {
        SeriesError::Misfit { hunk, version: self.version, fault }
    }
}

/// Returns the places that were changed but not named, and the reverse; each as many times as it is
/// named.
fn difference(wanted: &[&Place], mut surplus: Vec<Place>) -> Option<Misfit> {
    let mut missing = Vec::new();
    for place in wanted {
        match surplus.iter().position(|found| found == *place) {
            Some(at) => drop(surplus.remove(at)),
            None => missing.push((*place).clone()),
        }
    }
    (!missing.is_empty() || !surplus.is_empty()).then_some(Misfit::Places { missing, surplus })
}

#[cfg(test)]
#[path = "apply_tests.rs"]
mod tests;
