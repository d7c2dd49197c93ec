//! Names of columns.

/// Returns the name of a column: lower-case words with underscores between.
pub(super) fn column_name(parts: &[&str]) -> String {
    let mut name = String::new();
    for part in parts
        .iter()
        .flat_map(|part| part.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '%'))
    {
        let part = part.replace('%', "percent").to_ascii_lowercase();
        if !part.is_empty() {
            name += if name.is_empty() { "" } else { "_" };
            name += &part;
        }
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_words_with_underscores() {
        assert_eq!(
            column_name(&["zone lock", "longest hold, touched", "pages"]),
            "zone_lock_longest_hold_touched_pages"
        );
        assert_eq!(column_name(&["replay", "of it", "%"]), "replay_of_it_percent");
    }
}
