//! A place in a file: a function or a struct.

use std::fmt;

/// The holder of lines outside of every function and struct.
pub const TOP: &str = "(top)";

/// One change of one file.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file, relative to the tree.
    pub file: String,
    /// The function's name, `struct NAME`, or [`TOP`].
    pub holder: String,
}

impl Place {
    /// Parses `FILE HOLDER`.
    pub fn from_words(words: &str) -> Option<Self> {
        let (file, holder) = words.trim().split_once(char::is_whitespace)?;
        let holder = holder.split_whitespace().collect::<Vec<_>>().join(" ");
        let is_one = match holder.strip_prefix("struct ") {
            Some(name) => is_name(name),
            None => holder == TOP || is_name(&holder),
        };
        is_one.then(|| Self { file: file.to_owned(), holder })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.file, self.holder)
    }
}

pub(super) fn is_name(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn place_is_a_file_with_a_function_or_struct() {
        let place = Place::from_words(" mm/a.c  struct  shelf ").unwrap();
        assert_eq!(place.to_string(), "mm/a.c struct shelf");
        assert!(Place::from_words("mm/a.c (top)").is_some());
        assert_eq!(Place::from_words("mm/a.c"), None);
        assert_eq!(Place::from_words("mm/a.c two words"), None);
    }
}
