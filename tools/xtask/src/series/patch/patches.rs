//! Reads the patches of a series below `kernel/series`, in order.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::hunk::Hunk;
use super::lines::{self, Line};
use crate::kernel::KernelVersion;
use crate::kernel::files::read;
use crate::series::error::{SeriesError, SeriesResult};

/// The permitted contents of a patch's folder, for errors.
const CONTENTS: &str = "a patch has `message`, `NN-what.cocci`, `lines`, `append/` and `new/`";

/// The file with the cover letter.
const COVER: &str = "cover";

/// The folder of further patches for kernels that are tested and measured.
const HARNESS: &str = "harness";

/// The series.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Series {
    /// The folder.
    pub folder: PathBuf,
    /// Its patches in order, then those of the harness.
    pub patches: Vec<Patch>,
    /// The number of patches that are posted: all but the harness's.
    pub posted: usize,
    /// The cover letter: a subject line, an empty line, and a body; `None` if there is none.
    pub cover: Option<String>,
}

/// One patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Patch {
    /// Its folder's name, `NNNN-name`.
    pub name: String,
    /// The commit message.
    pub message: String,
    /// The semantic patches in order.
    pub hunks: Vec<Hunk>,
    /// Lines that it adds to files that are not C.
    pub lines: Vec<Line>,
    /// Files that it adds, by their paths in the kernel.
    pub new: BTreeMap<String, String>,
}

impl Series {
    /// Reads a folder of patches.
    ///
    /// # Errors
    /// If a patch is not complete; see [`SeriesError::Fault`].
    pub fn open(folder: &Path) -> SeriesResult<Self> {
        let mut patches = numbered(folder)?;
        if patches.is_empty() {
            return Err(SeriesError::fault(folder, "has no patches: folders named 0001-name, 0002-name, …"));
        }
        let (posted, harness) = (patches.len(), folder.join(HARNESS));
        if harness.is_dir() {
            patches.extend(numbered(&harness)?);
        }
        let cover = folder.join(COVER);
        let cover = if cover.is_file() { Some(message(&cover)?) } else { None };
        Ok(Self { folder: folder.to_owned(), patches, posted, cover })
    }

    /// Returns its name, which is that of its folder.
    pub fn name(&self) -> &str {
        self.folder.file_name().and_then(|name| name.to_str()).unwrap_or_default()
    }

    /// Returns the kernels that its semantic patches name, oldest first.
    pub fn kernels(&self) -> Vec<KernelVersion> {
        let hunks = self.patches.iter().flat_map(|patch| &patch.hunks);
        let named: BTreeSet<_> = hunks.flat_map(|hunk| hunk.places.keys().copied()).collect();
        named.into_iter().collect()
    }

    /// Checks that the series supports a kernel.
    ///
    /// # Errors
    /// If it supports only other kernels.
    pub fn check_kernel(&self, version: KernelVersion) -> SeriesResult<()> {
        let kernels = self.kernels();
        if kernels.contains(&version) {
            return Ok(());
        }
        Err(SeriesError::OtherKernel { series: self.name().to_owned(), version, kernels })
    }

    /// Returns the patches that are posted.
    pub fn posted(&self) -> &[Patch] {
        &self.patches[..self.posted]
    }
}

/// Reads the patches of a folder.
fn numbered(folder: &Path) -> SeriesResult<Vec<Patch>> {
    let mut patches = Vec::new();
    let is_patch = |path: &PathBuf| path.is_dir() && file_name(path) != HARNESS;
    for path in entries(folder)?.into_iter().filter(is_patch) {
        let wanted = format!("{:04}-", patches.len() + 1);
        if !file_name(&path).starts_with(&wanted) {
            return Err(SeriesError::fault(
                &path,
                format!("patches are numbered without gaps; this one should start with {wanted}"),
            ));
        }
        patches.push(Patch::open(&path)?);
    }
    Ok(patches)
}

impl Series {
    /// Returns the kernel's own files that the series changes.
    pub fn touched(&self, version: KernelVersion) -> BTreeSet<&str> {
        let hunks = self.patches.iter().flat_map(|patch| &patch.hunks);
        let lines = self.patches.iter().flat_map(|patch| &patch.lines).filter(|line| line.is_for(version));
        let files = hunks.flat_map(|hunk| hunk.files(version).into_keys());
        let files = files.chain(lines.map(|line| line.file.as_str()));
        let is_new = |file: &str| self.patches.iter().any(|patch| patch.new.contains_key(file));
        files.filter(|file| !is_new(file)).collect()
    }
}

impl Patch {
    /// Passes all inputs that determine the patched kernel to `add`.
    pub fn inputs(&self, version: KernelVersion, add: &mut impl FnMut(&str)) {
        self.hunks.iter().for_each(|hunk| add(&hunk.text));
        for line in self.lines.iter().filter(|line| line.is_for(version)) {
            add(&format!("{}: {:?}: {}", line.file, line.position, line.text));
        }
        for (name, text) in &self.new {
            add(name);
            add(text);
        }
    }

    fn open(folder: &Path) -> SeriesResult<Self> {
        let path = folder.join("message");
        let name = file_name(folder);
        let mut patch = Self {
            name,
            message: message(&path)?,
            hunks: Vec::new(),
            lines: Vec::new(),
            new: BTreeMap::new(),
        };
        for path in entries(folder)? {
            let is_hunk = path.extension().is_some_and(|extension| extension == "cocci");
            match file_name(&path).as_str() {
                "message" => {}
                "lines" => patch.lines.extend(lines::open(&path)?),
                "append" if path.is_dir() => {
                    let mut texts = BTreeMap::new();
                    new_files(&path, &path, &mut texts)?;
                    patch.lines.extend(texts.iter().flat_map(|(file, text)| lines::appended(file, text)));
                }
                "new" if path.is_dir() => new_files(&path, &path, &mut patch.new)?,
                _ if is_hunk => patch.hunks.push(Hunk::open(&path)?),
                _ => return Err(SeriesError::fault(&path, format!("does not belong here: {CONTENTS}"))),
            }
        }
        if patch.hunks.is_empty() && patch.lines.is_empty() && patch.new.is_empty() {
            return Err(SeriesError::fault(folder, format!("changes nothing: {CONTENTS}")));
        }
        Ok(patch)
    }

    /// Returns the first line of the message.
    pub fn subject(&self) -> &str {
        self.message.lines().next().unwrap_or_default()
    }
}

/// Reads a commit message: a subject, an empty line, a body.
fn message(path: &Path) -> SeriesResult<String> {
    if !path.is_file() {
        let form = "a subject line, an empty line, and what the patch does and why";
        return Err(SeriesError::fault(path, format!("is missing: the patch's commit message, {form}")));
    }
    let text = read(path)?;
    let mut lines = text.lines();
    let subject = lines.next().unwrap_or_default().trim();
    let is_apart = lines.next().unwrap_or_default().trim().is_empty();
    if subject.is_empty() || !is_apart || lines.all(|line| line.trim().is_empty()) {
        return Err(SeriesError::fault(path, "is not a subject line, an empty line, and a body"));
    }
    if text.contains("\nSigned-off-by:") {
        let remedy = "the author of the mails signs them, so remove the line";
        return Err(SeriesError::fault(path, format!("is signed off: {remedy}")));
    }
    Ok(text.trim_end().to_owned() + "\n")
}

/// Finds the files below `folder`; their paths are relative to `top`.
fn new_files(top: &Path, folder: &Path, found: &mut BTreeMap<String, String>) -> SeriesResult<()> {
    for path in entries(folder)? {
        if path.is_dir() {
            new_files(top, &path, found)?;
        } else {
            let name = path.strip_prefix(top).unwrap_or(&path).to_string_lossy().into_owned();
            found.insert(name, read(&path)?);
        }
    }
    Ok(())
}

fn entries(folder: &Path) -> SeriesResult<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).map_err(SeriesError::file(folder))?;
    let paths: std::io::Result<Vec<_>> = entries.map(|entry| Ok(entry?.path())).collect();
    let mut paths = paths.map_err(SeriesError::file(folder))?;
    // Editors' backup files and hidden files are ignored.
    paths.retain(|path| !file_name(path).starts_with('.') && !file_name(path).ends_with('~'));
    paths.sort();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::scratch::Scratch;

    const MESSAGE: &str = "mm: count\n\nBecause.\n";

    /// Opens a folder with these files.
    fn opened(files: &[(&str, &str)]) -> std::result::Result<Series, String> {
        let scratch = Scratch::new().unwrap();
        for (name, text) in files {
            scratch.write(name, text).unwrap();
        }
        let here = format!("{}/", scratch.path().display());
        Series::open(scratch.path()).map_err(|error| error.to_string().replace(&here, ""))
    }

    #[test]
    fn patches_are_read_in_their_order() {
        let series = opened(&[
            ("README.md", "x"),
            ("0002-b/message", MESSAGE),
            ("0002-b/lines", "mm/Kconfig: end: x\n"),
            ("0001-a/message", MESSAGE),
            ("0001-a/20-z.cocci", "// Z.\n// places 6.12: a.c f\n"),
            ("0001-a/10-y.cocci", "// Y.\n// places 6.12: a.c f\n"),
            ("0001-a/new/mm/x/y.c", "text"),
            ("0002-b/append/mm/Makefile", "obj-y += y.o\n"),
            ("harness/0001-c/message", MESSAGE),
            ("harness/0001-c/lines", "mm/y.h: end: z\n"),
        ])
        .unwrap();
        let names: Vec<_> = series.patches.iter().map(|patch| patch.name.as_str()).collect();
        assert_eq!(names, ["0001-a", "0002-b", "0001-c"]);
        let first = &series.patches[0];
        assert_eq!((first.hunks[0].prose.as_str(), first.subject()), ("Y.", "mm: count"));
        assert_eq!(first.new["mm/x/y.c"], "text");
        let touched = series.touched(KernelVersion::V6_12);
        assert_eq!(touched.into_iter().collect::<Vec<_>>(), ["a.c", "mm/Kconfig", "mm/Makefile", "mm/y.h"]);
        assert_eq!(series.patches[1].lines[1].text, "x");
        assert_eq!(series.posted().len(), 2);
    }

    #[test]
    fn each_series_of_this_repository_is_for_its_kernels() {
        let folder = crate::root().join("kernel/series");
        let opened = |name: &str| Series::open(&folder.join(name)).unwrap();
        let counts = opened("counts");
        assert_eq!(counts.kernels(), crate::series::kernels::KERNELS);
        for version in counts.kernels() {
            assert!(counts.touched(version).contains("mm/page_alloc.c"), "Linux {version}");
            counts.check_kernel(version).unwrap();
        }
        let tidying = opened("tidying");
        assert_eq!(tidying.kernels(), [KernelVersion::V7_3]);
        let error = tidying.check_kernel(KernelVersion::V6_12).unwrap_err();
        assert_eq!(error.to_string(), "the series tidying is for Linux 7.3, not for 6.12");
        assert_eq!(opened("without-remembered-mode").kernels(), [KernelVersion::V6_12]);
    }

    #[test]
    fn each_patch_of_counts_changes_every_kernel() {
        let series = Series::open(&crate::root().join("kernel/series/counts")).unwrap();
        for patch in series.patches.iter().filter(|patch| !patch.hunks.is_empty()) {
            let named: BTreeSet<_> = patch.hunks.iter().flat_map(|hunk| hunk.places.keys()).collect();
            assert_eq!(named.len(), series.kernels().len(), "{}", patch.name);
        }
    }

    #[test]
    fn incomplete_patches_are_named() {
        let error = |files: &[_]| opened(files).unwrap_err();
        let lines = ("0001-a/lines", "f: end: x\n");
        assert!(error(&[lines]).starts_with("0001-a/message: is missing"));
        assert!(error(&[lines, ("0001-a/message", "mm: x\nbody\n")]).contains("is not a subject line"));
        let signed = format!("{MESSAGE}\nSigned-off-by: A <a@b>\n");
        assert!(error(&[lines, ("0001-a/message", &signed)]).contains("is signed off"));
        assert!(error(&[("0001-a/message", MESSAGE)]).starts_with("0001-a: changes nothing"));
        assert!(
            error(&[lines, ("0001-a/message", MESSAGE), ("0001-a/line", "")])
                .starts_with("0001-a/line: does not belong here")
        );
        assert!(
            error(&[("0002-a/message", MESSAGE), ("0002-a/lines", "f: end: x\n")])
                .contains("should start with 0001-")
        );
        assert!(error(&[("README.md", "")]).contains("has no patches"));
    }
}
