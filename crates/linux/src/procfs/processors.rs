//! `/proc/cpuinfo` and `/sys/devices/system/cpu/online`: the processors of a machine.

use std::fs;
use std::path::Path;

use super::read::{optional, rows};
use crate::error::{Error, ParseError};

/// The file that lists the online processors.
pub(super) const ONLINE: &str = "sys/devices/system/cpu/online";

/// The processors of a machine.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Processors {
    /// The model in `/proc/cpuinfo`; empty if it has none, as on most arm64 machines.
    pub model: String,
    /// Online processors; 0 if unknown.
    pub online: u32,
}

/// Reads the processors of the machine below `root`.
///
/// # Errors
/// A list of online processors that does not parse.
pub fn read_processors(root: &Path) -> Result<Processors, Error> {
    let cpuinfo = fs::read_to_string(root.join("proc/cpuinfo")).unwrap_or_default();
    Ok(Processors { model: model(&cpuinfo), online: read_online(root)? })
}

/// Returns the number of online processors, or 0 if the kernel does not list them.
pub(super) fn read_online(root: &Path) -> Result<u32, Error> {
    optional(root, ONLINE, count_of_ranges)
}

/// Returns the first row `model name` (x86) or `Model` (arm and MIPS boards).
fn model(cpuinfo: &str) -> String {
    let row = cpuinfo.lines().find(|row| row.starts_with("model name") || row.starts_with("Model"));
    row.and_then(|row| row.split_once(':')).map_or(String::new(), |(_, model)| model.trim().to_owned())
}

/// Counts the numbers in a text such as `0-3,8`.
fn count_of_ranges(text: &str) -> Result<u32, ParseError> {
    let wrong = || ParseError::new(1, "ranges of numbers (`0-3,8`)", text);
    let mut count = 0_u32;
    let (_, row) = rows(text)?.next().ok_or_else(wrong)?;
    for range in row.trim().split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        let numbers = last.checked_sub(first).and_then(|more| more.checked_add(1)).ok_or_else(wrong)?;
        count = count.checked_add(numbers).ok_or_else(wrong)?;
    }
    Ok(count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_counted() {
        assert_eq!(count_of_ranges("0\n").unwrap(), 1);
        assert_eq!(count_of_ranges("0-3,8\n").unwrap(), 5);
        for broken in ["", "\n", "3-1\n", "x\n", "0-4294967295\n", "0-3,\n", "0-1"] {
            assert!(count_of_ranges(broken).is_err(), "{broken}");
        }
    }

    #[test]
    fn the_model_is_found() {
        assert_eq!(model("processor\t: 0\nmodel name\t: Foo 3\nmodel\t: 7\n"), "Foo 3");
        assert_eq!(model("processor\t: 0\nBogoMIPS\t: 50.00\n\nModel\t\t: Board 4\n"), "Board 4");
        assert_eq!(model(""), "");
    }

    #[test]
    fn a_root_has_the_processors_that_its_files_name() {
        let root = tempfile::tempdir().unwrap();
        assert_eq!(read_processors(root.path()).unwrap(), Processors::default());
        for (file, text) in [("proc/cpuinfo", "processor\t: 0\nmodel name\t: Foo 3\n"), (ONLINE, "0-3\n")] {
            let path = root.path().join(file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let found = read_processors(root.path()).unwrap();
        assert_eq!((found.model.as_str(), found.online), ("Foo 3", 4));
    }
}
