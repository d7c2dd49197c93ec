//! A source tree in the cache: the kernel's own files, some of them changed.
//!
//! The trees of one kernel share unchanged files as hard links. So a changed file is never written in
//! place but replaced, and a file that already has the text is left alone, so that make does not rebuild
//! for it.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::kernel::files::read;
use crate::kernel::process::{Job, command};
use crate::series::error::{SeriesError, SeriesResult};

/// A source tree that can be changed.
#[derive(Debug)]
pub(super) struct Tree {
    /// The kernel's own source, which never changes.
    source: PathBuf,
    path: PathBuf,
    /// The file with the names of the changed files.
    list: PathBuf,
}

impl Tree {
    /// Returns the tree of that name beside `source`, which is made if it does not exist.
    pub(super) fn new(source: &Path, name: &str, job: &Job) -> SeriesResult<Self> {
        let path = source.with_file_name(name);
        let tree = Self { source: source.to_owned(), list: path.with_extension("changed"), path };
        if !tree.path.is_dir() {
            let partial = tree.path.with_extension("partial");
            if partial.exists() {
                fs::remove_dir_all(&partial).map_err(SeriesError::file(&partial))?;
            }
            job.run(command("cp").args(["-a", "--link"]).arg(source).arg(&partial))?;
            fs::write(&tree.list, "").map_err(SeriesError::file(&tree.list))?;
            fs::rename(&partial, &tree.path).map_err(SeriesError::file(&tree.path))?;
        }
        Ok(tree)
    }

    /// Returns the path of the tree.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Changes or adds these files and restores all others.
    pub(super) fn set(&self, files: &BTreeMap<String, String>) -> SeriesResult<()> {
        let listed = read(&self.list)?;
        let before: BTreeSet<&str> = listed.lines().collect();
        // Until the change is complete, files of both lists may be changed.
        let union: BTreeSet<&str> = before.iter().copied().chain(files.keys().map(String::as_str)).collect();
        self.note(&union)?;
        for name in before.iter().filter(|name| !files.contains_key(**name)) {
            let (own, here) = (self.source.join(name), self.path.join(name));
            if own.is_file() {
                self.replace(name, &read(&own)?)?;
            } else if here.exists() {
                fs::remove_file(&here).map_err(SeriesError::file(&here))?;
            }
        }
        for (name, text) in files {
            self.replace(name, text)?;
        }
        self.note(&files.keys().map(String::as_str).collect())
    }

    fn note(&self, names: &BTreeSet<&str>) -> SeriesResult<()> {
        let text: String = names.iter().flat_map(|name| [name, "\n"]).collect();
        let partial = self.list.with_extension("list-partial");
        fs::write(&partial, text).map_err(SeriesError::file(&partial))?;
        fs::rename(&partial, &self.list).map_err(SeriesError::file(&self.list))
    }

    fn replace(&self, name: &str, text: &str) -> SeriesResult<()> {
        let path = self.path.join(name);
        if fs::read_to_string(&path).is_ok_and(|have| have == text) {
            return Ok(());
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).map_err(SeriesError::file(parent))?;
        }
        let partial = path.with_extension("freehold-partial");
        fs::write(&partial, text).map_err(SeriesError::file(&partial))?;
        if let Ok(own) = fs::metadata(&path) {
            fs::set_permissions(&partial, own.permissions()).map_err(SeriesError::file(&partial))?;
        }
        fs::rename(&partial, &path).map_err(SeriesError::file(&path))
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::time::{Duration, SystemTime};

    use super::*;
    use crate::kernel::scratch::Scratch;

    fn files(of: &[(&str, &str)]) -> BTreeMap<String, String> {
        of.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    }

    #[test]
    fn tree_gets_the_changes_and_the_source_stays_unchanged() {
        let scratch = Scratch::new().unwrap();
        let source = scratch.path().join("source");
        let kept = scratch.write("source/mm/a.c", "a").unwrap();
        scratch.write("source/mm/b.c", "b").unwrap();
        let old = SystemTime::now() - Duration::from_secs(1000);
        File::options().write(true).open(&kept).unwrap().set_modified(old).unwrap();
        let lock = File::create(scratch.path().join("lock")).unwrap();
        let job = Job::new(lock, scratch.path().join("log")).unwrap();
        let tree = Tree::new(&source, "series", &job).unwrap();
        let text = |name: &str| fs::read_to_string(tree.path().join(name)).ok();

        tree.set(&files(&[("mm/a.c", "a"), ("mm/b.c", "B"), ("mm/new/c.h", "c")])).unwrap();
        assert_eq!((text("mm/b.c").as_deref(), text("mm/new/c.h").as_deref()), (Some("B"), Some("c")));
        assert_eq!(fs::read_to_string(source.join("mm/b.c")).unwrap(), "b");
        let time = fs::metadata(tree.path().join("mm/a.c")).unwrap().modified().unwrap();
        assert!(time <= old + Duration::from_secs(1), "an unchanged file keeps its time");

        let again = Tree::new(&source, "series", &job).unwrap();
        again.set(&files(&[("mm/a.c", "A")])).unwrap();
        assert_eq!((text("mm/a.c").as_deref(), text("mm/b.c").as_deref()), (Some("A"), Some("b")));
        assert_eq!(text("mm/new/c.h"), None);
    }
}
