//! `/proc/allocinfo`: memory in use by the place in the kernel's code that allocated it.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use super::read::{REPORT, number, read_text, rows};
use crate::error::{Error, ParseError};

/// What the first line of a file starts with that is understood.
const VERSIONS: [&str; 2] = ["allocinfo - version: 1.", "allocinfo - version: 2."];

/// A place in the kernel's code that allocates, with what it allocated and was not freed.
///
/// Linux counterpart: `struct alloc_tag`, of Linux 6.10 and later built with `CONFIG_MEM_ALLOC_PROFILING`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct AllocationSite {
    /// Bytes in use.
    pub bytes: u64,
    /// Allocations in use.
    pub calls: u64,
    /// The file of the kernel's source.
    pub file: String,
    /// The line in it.
    pub line: u32,
    /// The module, of code that is in one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// The function.
    pub function: String,
    /// False if the kernel says that it did not count all; what is added and freed, it then counts all the same.
    pub is_accurate: bool,
}

/// Reads `proc/allocinfo` below `root`. Returns the sites with memory in use, those with the most bytes first; `None` if the kernel
/// has no such file.
///
/// # Errors
///
/// [`Error::NotRoot`] if access is refused; [`Error::Malformed`] if the file does not parse.
pub fn read_allocinfo(root: &Path) -> Result<Option<Vec<AllocationSite>>, Error> {
    let path = root.join("proc/allocinfo");
    match read_text(&path) {
        Ok(text) => parse_allocinfo(&text).map(Some).map_err(|e| e.in_file(&path, REPORT)),
        Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(other) => Err(other),
    }
}

/// Returns true unless `proc/sys/vm/mem_profiling` below `root` says that the kernel counts no more; what the file says is then old.
pub fn counts_allocations(root: &Path) -> bool {
    !read_text(&root.join("proc/sys/vm/mem_profiling")).is_ok_and(|text| text.trim() == "0")
}

/// Parses the contents of `/proc/allocinfo`. Returns the sites with memory in use, those with the most bytes first.
///
/// # Errors
///
/// If it is of another version, is cut off, or a line does not tell a site.
pub fn parse_allocinfo(text: &str) -> Result<Vec<AllocationSite>, ParseError> {
    let mut rows = rows(text)?;
    match rows.next() {
        Some((_, row)) if VERSIONS.iter().any(|version| row.starts_with(version)) => {}
        other => {
            let found = other.map_or("none", |(_, row)| row);
            return Err(ParseError::new(1, "`allocinfo - version: 1.0` or `2.0`", found));
        }
    }
    let mut by_place: BTreeMap<Place<'_>, Counted> = BTreeMap::new();
    for (line, row) in rows.filter(|(_, row)| !row.starts_with('#') && !row.trim().is_empty()) {
        let (place, counted) = site(line, row)?;
        by_place.entry(place).or_default().add(counted);
    }
    let mut sites: Vec<_> = by_place.into_iter().map(|(place, counted)| place.with(counted)).collect();
    sites.retain(|site| site.bytes > 0);
    sites.sort_by_key(|site| Reverse(site.bytes));
    Ok(sites)
}

/// Where in the code: file, line, module, function.
///
/// A place in a header is in the file once for each part of the kernel that includes it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place<'a>(&'a str, u32, Option<&'a str>, &'a str);

/// What is in use.
#[derive(Clone, Copy, Default)]
struct Counted {
    bytes: u64,
    calls: u64,
    is_inaccurate: bool,
}

impl Counted {
    fn add(&mut self, other: Self) {
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.calls = self.calls.saturating_add(other.calls);
        self.is_inaccurate |= other.is_inaccurate;
    }
}

impl Place<'_> {
    fn with(self, counted: Counted) -> AllocationSite {
        let Self(file, line, module, function) = self;
        AllocationSite {
            bytes: counted.bytes,
            calls: counted.calls,
            file: file.to_owned(),
            line,
            module: module.map(str::to_owned),
            function: function.to_owned(),
            is_accurate: !counted.is_inaccurate,
        }
    }
}

/// Parses `bytes calls file:line [module] func:name`, and what newer kernels add as `key:value`.
fn site(line: u64, row: &str) -> Result<(Place<'_>, Counted), ParseError> {
    let mut words = row.split_ascii_whitespace().peekable();
    let bytes = counter(line, "bytes in use", words.next())?;
    let calls = counter(line, "allocations in use", words.next())?;
    let place = words.next().unwrap_or("");
    let (file, in_file) = place.rsplit_once(':').unwrap_or((place, ""));
    let in_file =
        in_file.parse().map_err(|_| ParseError::new(line, "a file and its line, `mm/slub.c:7`", place))?;
    let module = words.next_if(|word| word.starts_with('['));
    let module = module.map(|word| {
        let inside = word.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        named(line, "a module in brackets", word, inside)
    });
    let function = words.next().unwrap_or("");
    let place = Place(
        named(line, "a file and its line, `mm/slub.c:7`", place, Some(file))?,
        in_file,
        module.transpose()?,
        named(line, "`func:` and a function", function, function.strip_prefix("func:"))?,
    );
    Ok((place, Counted { bytes, calls, is_inaccurate: words.any(|word| word == "accurate:no") }))
}

/// Parses a counter. It is a sum of CPUs' parts that are read one after the other, and so may be below zero, as which it counts as 0.
fn counter(line: u64, what: &str, word: Option<&str>) -> Result<u64, ParseError> {
    if let Some(below) = word.and_then(|word| word.strip_prefix('-')) {
        return number(line, what, Some(below)).map(|_| 0);
    }
    // The second counter is printed without a sign.
    number(line, what, word).map(|sum| if i64::try_from(sum).is_ok() { sum } else { 0 })
}

/// Returns a name, which is printed to terminals and must be plain ASCII.
fn named<'a>(line: u64, what: &str, word: &str, name: Option<&'a str>) -> Result<&'a str, ParseError> {
    let name = name.filter(|name| !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_graphic()));
    name.ok_or_else(|| ParseError::new(line, what, word))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
allocinfo - version: 2.0
#     <size>  <calls> <tag info>
           0        0 init/main.c:1368 func:do_initcalls 
       10240       80 include/linux/slab.h:9 func:of_a_header 
     4153344     1014 fs/pipe.c:506 func:anon_pipe_write 
      786432      192 fs/ext4/super.c:1393 [ext4] func:ext4_alloc_inode accurate:no later:7 
       20480      160 include/linux/slab.h:9 func:of_a_header 
       -4096       -1 mm/memory.c:5 func:below_zero 
         640 18446744073709551615 mm/memory.c:6 func:calls_below_zero 
";

    #[test]
    fn sites_are_in_the_order_of_their_bytes() {
        let sites = parse_allocinfo(TEXT).unwrap();
        let functions: Vec<_> =
            sites.iter().map(|site| (site.function.as_str(), site.bytes, site.calls)).collect();
        assert_eq!(
            functions,
            [
                ("anon_pipe_write", 4_153_344, 1014),
                ("ext4_alloc_inode", 786_432, 192),
                ("of_a_header", 30_720, 240),
                ("calls_below_zero", 640, 0),
            ]
        );
        let places: Vec<_> = sites.iter().map(|site| (site.file.as_str(), site.line)).collect();
        assert_eq!(places[..3], [("fs/pipe.c", 506), ("fs/ext4/super.c", 1393), ("include/linux/slab.h", 9)]);
        let modules: Vec<_> = sites.iter().map(|site| (site.module.as_deref(), site.is_accurate)).collect();
        assert_eq!(modules[..3], [(None, true), (Some("ext4"), false), (None, true)]);
        assert_eq!(parse_allocinfo(&TEXT.replace("2.0", "1.0")).unwrap().len(), 4);
    }

    #[test]
    fn damage_is_named() {
        let wrong = |row: &str| {
            let error = parse_allocinfo(&format!("{TEXT}{row}\n")).unwrap_err();
            (error.line, error.found)
        };
        for (row, found) in [
            ("many 1 mm/slub.c:7 func:f", "many"),
            ("1 -x mm/slub.c:7 func:f", "x"),
            ("1 1 mm/slub.c func:f", "mm/slub.c"),
            ("1 1 mm/slub.c:4294967296 func:f", "mm/slub.c:4294967296"),
            ("1 1 :7 func:f", ":7"),
            ("1 1 mm/slub.c:7 [] func:f", "[]"),
            ("1 1 mm/slub.c:7 [ext4 func:f", "[ext4"),
            ("1 1 mm/slub.c:7 f", "f"),
            ("1 1 mm/slub.c:7 func:\u{1b}[2J", "func:\u{fffd}[2J"),
            ("1", ""),
        ] {
            assert_eq!(wrong(row), (10, found.to_owned()), "{row}");
        }
        assert_eq!(parse_allocinfo("").unwrap_err().found, "none");
        assert!(parse_allocinfo(&TEXT.replace("2.0", "3.0")).is_err());
        let cut = parse_allocinfo(&TEXT[..TEXT.len() - 5]).unwrap_err();
        assert!(cut.expected.contains("cut"), "{cut}");
    }

    #[test]
    fn a_kernel_without_the_file_has_no_sites() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read_allocinfo(root.path()).unwrap(), None);
        std::fs::create_dir(root.path().join("proc")).unwrap();
        let file = root.path().join("proc/allocinfo");
        std::fs::write(&file, TEXT).unwrap();
        assert_eq!(read_allocinfo(root.path()).unwrap().unwrap().len(), 4);
        std::fs::write(&file, "allocinfo - version: 1.0\n1\n").unwrap();
        let error = read_allocinfo(root.path()).unwrap_err().to_string();
        assert!(error.contains("allocinfo:2: expected allocations in use (a number)"), "{error}");
    }
}
