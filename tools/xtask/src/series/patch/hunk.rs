//! A semantic patch: Coccinelle's rules, and the places that they must change in each kernel.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crate::kernel::KernelVersion;
use crate::kernel::files::read;
use crate::series::error::{SeriesError, SeriesResult};
use crate::series::kernels::{self, KERNELS};
use crate::series::place::Place;

/// The start of a comment that names places: `// places 6.12, 7.2: FILE HOLDER, FILE HOLDER`.
const PLACES: &str = "places ";

/// One semantic patch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Hunk {
    /// The path of the file.
    pub path: PathBuf,
    /// The description in its head.
    pub prose: String,
    /// The places that it changes; a kernel without an entry is not changed.
    pub places: BTreeMap<KernelVersion, Vec<Place>>,
    /// The text of the file.
    pub text: String,
}

impl Hunk {
    /// Reads a `.cocci` file.
    ///
    /// # Errors
    /// If its head has no description or no places.
    pub fn open(path: &Path) -> SeriesResult<Self> {
        Self::parse(path, read(path)?)
    }

    fn parse(path: &Path, text: String) -> SeriesResult<Self> {
        let fault = |what: String| SeriesError::fault(path, what);
        let head = text.lines().map_while(|line| line.strip_prefix("//")).map(str::trim);
        let (mut prose, mut places) = (Vec::new(), BTreeMap::<_, Vec<_>>::new());
        for line in head {
            let Some(words) = line.strip_prefix(PLACES) else {
                prose.push(line);
                continue;
            };
            let (versions, list) = words
                .split_once(':')
                .ok_or_else(|| fault(format!("`{line}` is not `places VERSION: FILE HOLDER, …`")))?;
            let named = versions_of(versions).map_err(&fault)?;
            for words in list.split(',').filter(|words| !words.trim().is_empty()) {
                let place = Place::from_words(words).ok_or_else(|| {
                    fault(format!(
                        "`{}` is not a place: FILE FUNCTION, FILE struct NAME or FILE (top)",
                        words.trim()
                    ))
                })?;
                for version in &named {
                    places.entry(*version).or_default().push(place.clone());
                }
            }
        }
        if places.is_empty() {
            let known = kernels::names(&KERNELS);
            return Err(fault(format!(
                "its head names no places: it needs a line `// places VERSION: FILE HOLDER, …` for each of {known} \
                 that it changes"
            )));
        }
        if prose.iter().all(|line| line.is_empty()) {
            return Err(fault("its head has no description".to_owned()));
        }
        Ok(Self { path: path.to_owned(), prose: prose.join("\n").trim().to_owned(), places, text })
    }

    /// Returns the places of one kernel by file.
    pub fn files(&self, version: KernelVersion) -> BTreeMap<&str, Vec<&Place>> {
        let mut files = BTreeMap::<_, Vec<_>>::new();
        for place in self.places.get(&version).into_iter().flatten() {
            files.entry(place.file.as_str()).or_default().push(place);
        }
        files
    }

    /// Returns the name in errors: the patch's and its own.
    pub fn name(&self) -> String {
        short(&self.path)
    }
}

/// Returns the last two components of a path: a patch and its file.
pub(super) fn short(path: &Path) -> String {
    let names: Vec<_> = path.iter().rev().take(2).map(|name| name.to_string_lossy()).collect();
    names.into_iter().rev().collect::<Vec<_>>().join("/")
}

fn versions_of(list: &str) -> std::result::Result<Vec<KernelVersion>, String> {
    let known = kernels::names(&KERNELS);
    kernels::from_list(list)
        .map_err(|name| format!("its head names Linux {name}; a patch may be for {known}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> std::result::Result<Hunk, String> {
        Hunk::parse(Path::new("series/0001-x/10-y.cocci"), text.to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn head_has_a_description_and_places() {
        let hunk = parsed(
            "// Counts what is put in.\n// Twice.\n// places 6.12: a.c add, a.c add\n\
             // places 6.12: b.h struct s\n// places 7.3: a.c add\n\n@@\n@@\n// places 7.3: not the head\n",
        )
        .unwrap();
        assert_eq!(hunk.prose, "Counts what is put in.\nTwice.");
        assert_eq!(hunk.name(), "0001-x/10-y.cocci");
        let files = hunk.files(KernelVersion::V6_12);
        assert_eq!((files["a.c"].len(), files["b.h"][0].holder.as_str()), (2, "struct s"));
        assert_eq!(hunk.places[&KernelVersion::V7_3].len(), 1);
        assert!(hunk.files(KernelVersion::V6_1).is_empty());
    }

    #[test]
    fn places_may_be_those_of_several_kernels() {
        let hunk = parsed("// x\n// places 6.18, 7.2: a.c f, a.c g\n// places 7.2: a.c h\n").unwrap();
        let counts: Vec<_> = hunk.places.iter().map(|(version, list)| (version.name(), list.len())).collect();
        assert_eq!(counts, [("6.18", 2), ("7.2", 3)]);
    }

    #[test]
    fn incomplete_head_is_refused() {
        let error = |text| parsed(text).unwrap_err();
        assert!(error("@@\n@@\n").contains("names no places"), "{}", error("@@\n@@\n"));
        assert!(error("// x\n// places 6.12:\n").contains("names no places"));
        assert!(error("// places 6.12: a.c f\n").ends_with("has no description"));
        assert!(
            error("// x\n// places 5.4: a.c f\n")
                .ends_with("its head names Linux 5.4; a patch may be for 6.12, 6.18, 7.2 and 7.3")
        );
        assert!(error("// x\n// places 6.12: a.c\n").contains("`a.c` is not a place"));
        assert!(error("// x\n// places 6.12 a.c f\n").contains("is not `places VERSION:"));
    }
}
