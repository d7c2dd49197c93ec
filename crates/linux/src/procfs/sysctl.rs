//! `/proc/sys/vm`: the settings of the page allocator.

use std::collections::BTreeMap;
use std::path::Path;

use freehold_trace::SYSCTLS;

use super::read::{REPORT, read_text, rows};
use crate::error::{Error, ParseError};

/// Reads the settings in `proc/sys/vm` below `root`. Settings that the kernel lacks are left out.
pub fn read_sysctls(root: &Path) -> Result<BTreeMap<String, String>, Error> {
    let folder = root.join("proc/sys/vm");
    let mut settings = BTreeMap::new();
    for name in SYSCTLS {
        match read_text(&folder.join(name)) {
            Ok(text) => {
                let value = setting(&text).map_err(|e| e.in_file(&folder.join(name), REPORT))?;
                settings.insert(name.to_owned(), value);
            }
            Err(Error::Io { source, .. }) if source.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(error),
        }
    }
    Ok(settings)
}

/// Parses the file of a setting, which has one row.
fn setting(text: &str) -> Result<String, ParseError> {
    let words: Vec<_> = rows(text)?.flat_map(|(_, row)| row.split_ascii_whitespace()).collect();
    if words.is_empty() { Err(ParseError::new(1, "a setting", "none")) } else { Ok(words.join(" ")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_setting_is_one_whole_row() {
        assert_eq!(setting("256\t256\t32\t0\t0\n").unwrap(), "256 256 32 0 0");
        assert!(setting("6758").is_err() && setting("").is_err());
    }
}
