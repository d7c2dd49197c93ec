//! Lines that a patch adds to files of the kernel that are not C: Kconfig, Makefile, MAINTAINERS, documents.

use std::path::Path;

use crate::kernel::KernelVersion;
use crate::kernel::files::read;
use crate::series::error::{Misfit, SeriesError, SeriesResult};
use crate::series::kernels;

/// The place of an added line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Position {
    /// At the end of the file
    End,
    /// Before the last occurrence of this line
    Before(String),
    /// After the last occurrence of this line
    After(String),
}

/// One line to add.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Line {
    /// The file, relative to the tree.
    pub file: String,
    /// The kernels that get the line; empty if each does.
    pub versions: Vec<KernelVersion>,
    /// Its place in the file.
    pub position: Position,
    /// The line.
    pub text: String,
}

/// Parses a `lines` file: `FILE: end: TEXT`, `FILE: before-last LINE: TEXT` or `FILE: after-last LINE: TEXT`; `FILE
/// 7.2, 7.3: …` is for those kernels alone. An empty text is an empty line.
pub(super) fn open(path: &Path) -> SeriesResult<Vec<Line>> {
    let text = read(path)?;
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines
        .map(|line| {
            parse(line).ok_or_else(|| {
                let forms =
                    "`FILE: end: TEXT`, `FILE: before-last LINE: TEXT` nor `FILE: after-last LINE: TEXT`";
                SeriesError::fault(path, format!("`{line}` is neither {forms}"))
            })
        })
        .collect()
}

fn parse(line: &str) -> Option<Line> {
    let (file, rest) = line.split_once(": ")?;
    let (file, versions) = match file.split_once(' ') {
        None => (file, Vec::new()),
        Some((file, versions)) => (file, kernels::from_list(versions).ok()?),
    };
    let (place, text) = rest.split_once(": ").or_else(|| Some((rest.strip_suffix(':')?, "")))?;
    let position = match place.split_once(' ') {
        None if place == "end" => Position::End,
        Some(("before-last", line)) => Position::Before(line.to_owned()),
        Some(("after-last", line)) => Position::After(line.to_owned()),
        _ => return None,
    };
    Some(Line { file: file.to_owned(), versions, position, text: text.to_owned() })
}

/// Returns the lines of a text that goes to the end of a file.
pub(super) fn appended(file: &str, text: &str) -> Vec<Line> {
    let line = |text: &str| Line {
        file: file.to_owned(),
        versions: Vec::new(),
        position: Position::End,
        text: text.to_owned(),
    };
    text.lines().map(line).collect()
}

impl Line {
    /// Returns true if a kernel gets the line.
    pub fn is_for(&self, version: KernelVersion) -> bool {
        self.versions.is_empty() || self.versions.contains(&version)
    }

    /// Returns the file's text with the line added.
    pub(super) fn put_into(&self, text: &str) -> Result<String, Misfit> {
        let mut lines: Vec<&str> = text.lines().collect();
        let last = |wanted: &String| {
            let at = lines.iter().rposition(|line| line == wanted);
            at.ok_or_else(|| Misfit::NoLine { file: self.file.clone(), line: wanted.clone() })
        };
        let at = match &self.position {
            Position::End => lines.len(),
            Position::Before(line) => last(line)?,
            Position::After(line) => last(line)? + 1,
        };
        lines.insert(at, &self.text);
        Ok(lines.join("\n") + "\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_added_at_the_end_or_beside_another() {
        let end = parse("mm/Makefile: end: obj-$(CONFIG_X) += x.o").unwrap();
        assert_eq!(end.put_into("a\nb\n").unwrap(), "a\nb\nobj-$(CONFIG_X) += x.o\n");
        let before = parse("mm/Kconfig: before-last endmenu: source \"mm/Kconfig.x\"").unwrap();
        let put = before.put_into("endmenu\na\nendmenu\nb\n").unwrap();
        assert_eq!(put, "endmenu\na\nsource \"mm/Kconfig.x\"\nendmenu\nb\n");
        let empty = parse("Documentation/x.rst: before-last b:").unwrap();
        assert_eq!((empty.position, empty.text.as_str()), (Position::Before("b".to_owned()), ""));
        let after = parse("Documentation/x.rst: after-last b: More: c").unwrap();
        assert_eq!(after.put_into("b\na\nb\nd\n").unwrap(), "b\na\nb\nMore: c\nd\n");
        let error = before.put_into("a\n").unwrap_err();
        assert_eq!(error.to_string(), "mm/Kconfig has no line `endmenu`");
    }

    #[test]
    fn a_line_may_be_for_some_kernels() {
        let line = parse("MAINTAINERS 7.3: before-last F:\tmm/b.c: F:\tmm/a.h").unwrap();
        assert_eq!(line.file, "MAINTAINERS");
        assert_eq!(line.position, Position::Before("F:\tmm/b.c".to_owned()));
        assert!(line.is_for(KernelVersion::V7_3) && !line.is_for(KernelVersion::V6_12));
        assert_eq!(line.put_into("F:\tmm/b.c\n").unwrap(), "F:\tmm/a.h\nF:\tmm/b.c\n");
        let some = parse("mm/x 6.18, 7.2: end: y").unwrap();
        let gets = |version: &KernelVersion| some.is_for(*version);
        let names: Vec<_> = KernelVersion::ALL.into_iter().filter(gets).map(KernelVersion::name).collect();
        assert_eq!(names, ["6.18", "7.2"]);
        let both = appended("mm/Makefile", "\na\n");
        assert_eq!(both.iter().map(|line| line.text.as_str()).collect::<Vec<_>>(), ["", "a"]);
        assert!(both[0].is_for(KernelVersion::V6_12));
    }

    #[test]
    fn other_lines_are_refused() {
        assert_eq!(parse("mm/Makefile 5.4: end: x"), None);
        assert_eq!(parse("mm/Makefile 7.3, 5.4: end: x"), None);
        assert_eq!(parse("mm/Makefile: start: x"), None);
        assert_eq!(parse("mm/Makefile: end x: y"), None);
        assert_eq!(parse("mm/Makefile: x"), None);
    }
}
