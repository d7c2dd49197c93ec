//! Checks that files and items named in documents exist.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::markdown::{SUMMARY, local_links, resolve};

/// The folders with which a path from the repository's root starts.
const ROOTS: [&str; 9] =
    ["crates/", "contrib/", "docs/", "traces/", "tools/", "fuzz/", "kernel/", ".ci/", ".cargo/"];

/// The documents of a repository, checked against its files.
pub(super) struct Documents<'r> {
    root: &'r Path,
    /// The repository's files, relative to its root.
    files: Vec<&'r str>,
}

impl<'r> Documents<'r> {
    /// Returns the documents of the repository with these `files` below `root`.
    pub(super) fn new(root: &'r Path, files: &'r [PathBuf]) -> Self {
        let files = files.iter().filter_map(|file| file.strip_prefix(root).ok()?.to_str()).collect();
        Self { root, files }
    }

    /// Adds a finding for each path and link of the document `name` that leads to nothing.
    pub(super) fn check(&self, name: &str, text: &str, findings: &mut Vec<String>) {
        for span in text.split('`').skip(1).step_by(2) {
            let path = span.split([':', ' ', '#']).next().unwrap_or_default();
            if !path.contains(['*', '<', '{', '…', '\n']) && !self.exists(path) {
                findings.push(format!("{name}: names `{path}`, which does not exist"));
            }
        }
        for (file, item) in items(text).filter(|(file, item)| !self.has(file, item)) {
            findings.push(format!("{name}: names `{item}` of `{file}`, which has no such thing"));
        }
        let folder = self.root.join(name);
        let folder = folder.parent().unwrap_or(self.root);
        for link in local_links(text).filter(|link| !folder.join(link).exists()) {
            findings.push(format!("{name}: links to {link}, which does not exist"));
        }
    }

    /// Returns true if `path` exists or is not a path of the repository.
    fn exists(&self, path: &str) -> bool {
        if ROOTS.iter().any(|known| path.starts_with(known)) {
            return self.root.join(path).exists();
        }
        // A Rust file may be named without its folder.
        let is_source = has_ending(path, "rs");
        !is_source || self.named(path).next().is_some()
    }

    /// Returns the files that match `path`, which may omit leading folders.
    fn named<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a str> {
        self.files.iter().copied().filter(move |file| {
            file.strip_suffix(path).is_some_and(|folder| folder.is_empty() || folder.ends_with('/'))
        })
    }

    /// Returns true if the source file `path` contains the word `item`, or there is no such file.
    fn has(&self, path: &str, item: &str) -> bool {
        let mut texts = self.named(path).filter_map(|file| fs::read_to_string(self.root.join(file)).ok());
        let is_in = |text: String| text.split(|part: char| !is_of_word(part)).any(|word| word == item);
        self.named(path).next().is_none() || texts.any(is_in)
    }

    /// Adds a finding for each document that the book's list lacks.
    ///
    /// # Errors
    /// If the list exists and cannot be read.
    pub(super) fn check_summary(&self, findings: &mut Vec<String>) -> io::Result<()> {
        let summary = Path::new(SUMMARY);
        if !self.root.join(summary).exists() {
            return Ok(());
        }
        let text = fs::read_to_string(self.root.join(summary))?;
        let listed: BTreeSet<PathBuf> =
            local_links(&text).filter_map(|link| resolve(summary, link)).collect();
        for file in self.files.iter().filter(|file| has_ending(file, "md") && **file != SUMMARY) {
            if !listed.contains(Path::new(file)) {
                findings.push(format!("{SUMMARY}: does not list {file}"));
            }
        }
        Ok(())
    }
}

/// Returns the items that a document names of a source file: words in backticks directly after the file's
/// name.
fn items(text: &str) -> impl Iterator<Item = (&str, &str)> {
    let spans: Vec<&str> = text.split('`').collect();
    let mut file = None;
    let mut found = Vec::new();
    for pair in spans.windows(2).skip(1).step_by(2).map(|pair| (pair[0], pair[1])) {
        let (span, after) = pair;
        if has_ending(span, "rs") {
            file = Some(span);
        } else if let Some(file) = file.filter(|_| !span.is_empty() && span.chars().all(is_of_word)) {
            found.push((file, span));
        }
        if !matches!(after, " " | ", ") {
            file = None;
        }
    }
    found.into_iter()
}

fn is_of_word(part: char) -> bool {
    part.is_ascii_alphanumeric() || part == '_'
}

fn has_ending(file: &str, ending: &str) -> bool {
    Path::new(file).extension().is_some_and(|extension| extension == ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_after_a_file_name_belong_to_the_file() {
        let text = "in `a.rs` `one`, `two`; `b.rs` and `three`, `c.rs` `x < y` `four`";
        assert_eq!(items(text).collect::<Vec<_>>(), [("a.rs", "one"), ("a.rs", "two"), ("c.rs", "four")]);
    }
}
