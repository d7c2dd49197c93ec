//! The links of a document.

use std::path::{Component, Path, PathBuf};

/// The list of the book's pages.
pub const SUMMARY: &str = "docs/SUMMARY.md";

/// Returns the targets of a document's links into the repository, as written, without their fragments.
pub fn local_links(text: &str) -> impl Iterator<Item = &str> {
    let targets = text.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let paths = targets.map(|target| target.split('#').next().unwrap_or_default());
    paths.filter(|path| !path.is_empty() && !path.contains("://"))
}

/// Returns the target of a link of `document`, both relative to the repository; `None` if it is outside.
pub fn resolve(document: &Path, link: &str) -> Option<PathBuf> {
    let mut path = document.parent().unwrap_or(Path::new("")).to_owned();
    for part in Path::new(link).components() {
        match part {
            Component::Normal(name) => path.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !path.pop() {
                    return None;
                }
            }
            Component::RootDir | Component::Prefix(_) => return None,
        }
    }
    Some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_into_the_repository_are_found() {
        let text = "[a](b.md#part) ![c](d/e.svg) [f](https://g) [h](#i)";
        assert_eq!(local_links(text).collect::<Vec<_>>(), ["b.md", "d/e.svg"]);
    }

    #[test]
    fn links_are_resolved_from_their_document() {
        let from = |link| resolve(Path::new("docs/evidence/trust.md"), link);
        assert_eq!(from("tried.md"), Some("docs/evidence/tried.md".into()));
        assert_eq!(from("../../README.md"), Some("README.md".into()));
        assert_eq!(from("../../../other"), None);
        assert_eq!(from("/etc/passwd"), None);
    }
}
