//! The files that a guest prints on its console.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;

/// Returns the names and contents of the files in a console. A damaged file is an error.
pub(crate) fn given(console: &str) -> Vec<(&str, Result<Vec<u8>, String>)> {
    let of = |part| {
        let (name, rest) = str::split_once(part, '\n')?;
        let (text, _) = rest.split_once("guest: end")?;
        let text: String = text.split_whitespace().collect();
        let bytes = BASE64_STANDARD.decode(text);
        Some((name.trim(), bytes.map_err(|error| format!("the file is damaged: {error}"))))
    };
    console.split("guest: file ").skip(1).filter_map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_parsed_from_the_console() {
        let console =
            "x\nguest: file a.txt\nQUFB\nQg==\nguest: end\nguest: file b\nQw==\nguest: end\nguest: done\n";
        assert_eq!(given(console), [("a.txt", Ok(b"AAAB".to_vec())), ("b", Ok(b"C".to_vec()))]);
        assert_eq!(given("guest: file a\nQUFB\n"), [], "the guest ended before the file did");
        let disturbed = given("guest: file a\nQU[ 4.5] oops\nguest: end\n");
        assert!(matches!(disturbed[..], [("a", Err(_))]), "{disturbed:?}");
    }
}
