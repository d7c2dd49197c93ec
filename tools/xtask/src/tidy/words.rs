//! Words that the project does not use, as `tools/words.tsv` lists them.

use std::fs;
use std::io;
use std::path::Path;

use regex::Regex;

/// The list: kind, pattern, what to write instead, and the lines where the pattern is allowed.
const LIST: &str = "tools/words.tsv";

/// Texts that show the words on purpose: the house style, the changelog, and measurements of old versions.
const QUOTES: [&str; 4] = ["STYLE.md", "CHANGELOG.md", "docs/evidence/", "tools/xtask/src/tidy/words.rs"];

/// The folders and files that are checked.
const CHECKED: [&str; 8] =
    ["crates/", "tools/", "python/", "fuzz/", "docs/", "README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The words of the list.
pub(super) struct Words {
    identifiers: Vec<(Regex, String)>,
    phrases: Vec<Phrase>,
}

/// An expression for comments, texts and documents.
struct Phrase {
    pattern: Regex,
    instead: String,
    allowed: Option<Regex>,
}

/// The parts of a Rust file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Code,
    Comment,
    Text,
}

impl Words {
    /// Reads the list.
    ///
    /// # Errors
    /// If the file cannot be read, or a line has no valid expression.
    pub(super) fn read(root: &Path) -> io::Result<Self> {
        let path = root.join(LIST);
        if !path.exists() {
            return Ok(Self { identifiers: Vec::new(), phrases: Vec::new() });
        }
        Self::parse(&fs::read_to_string(path)?)
    }

    fn parse(list: &str) -> io::Result<Self> {
        let mut words = Self { identifiers: Vec::new(), phrases: Vec::new() };
        for line in list.lines().filter(|line| !line.starts_with('#') && !line.is_empty()) {
            let wrong = |why: &str| io::Error::other(format!("{LIST}: {line:?} {why}"));
            let expression = |text: &str| Regex::new(text).map_err(|error| wrong(&error.to_string()));
            let mut fields = line.split('\t');
            let mut field = || fields.next().filter(|field| !field.is_empty());
            let (Some(kind), Some(pattern), Some(instead)) = (field(), field(), field()) else {
                return Err(wrong("has no kind, pattern and replacement"));
            };
            let instead = instead.to_owned();
            match kind {
                "identifier" => words.identifiers.push((expression(&format!(r"\b{pattern}\b"))?, instead)),
                "phrase" => {
                    let allowed = field().map(expression).transpose()?;
                    words.phrases.push(Phrase { pattern: expression(pattern)?, instead, allowed });
                }
                _ => return Err(wrong("is neither identifier nor phrase")),
            }
        }
        Ok(words)
    }

    /// Adds a finding for each forbidden word in the file `name`.
    pub(super) fn check(&self, name: &str, text: &str, findings: &mut Vec<String>) {
        let is_checked = CHECKED.iter().any(|checked| name.starts_with(checked));
        if !is_checked || QUOTES.iter().any(|quote| name.starts_with(quote)) {
            return;
        }
        let is_rust = Path::new(name).extension().is_some_and(|end| end == "rs");
        let prose = if is_rust { only(text, |part| part != Part::Code) } else { text.to_owned() };
        let code = if is_rust { only(text, |part| part == Part::Code) } else { String::new() };
        let lines = text.lines().zip(prose.lines()).zip(code.lines().chain(std::iter::repeat("")));
        for (number, ((whole, prose), code)) in lines.enumerate() {
            let mut found = |word: &str, instead: &str| {
                findings.push(format!("{name}:{}: {word:?}; write: {instead}", number + 1));
            };
            for (pattern, instead) in &self.identifiers {
                pattern.find_iter(code).for_each(|word| found(word.as_str(), instead));
            }
            let prose = without_spans(prose);
            for phrase in &self.phrases {
                if phrase.allowed.as_ref().is_some_and(|allowed| allowed.is_match(whole)) {
                    continue;
                }
                phrase.pattern.find_iter(&prose).for_each(|word| found(word.as_str(), &phrase.instead));
            }
        }
    }
}

/// Returns a line of prose without the names in code spans.
fn without_spans(line: &str) -> String {
    let parts = line.split('`').enumerate();
    parts.map(|(number, part)| if number % 2 == 0 { part } else { " " }).collect::<Vec<_>>().join("`")
}

/// Returns a Rust file with blanks in place of the parts that are not kept. Line breaks stay.
fn only(text: &str, keeps: impl Fn(Part) -> bool) -> String {
    let mut kept = String::with_capacity(text.len());
    let mut rest = text;
    while !rest.is_empty() {
        let (part, length) = next_part(rest);
        let (now, later) = rest.split_at(length);
        if keeps(part) {
            kept.push_str(now);
        } else {
            kept.extend(now.chars().map(|letter| if letter == '\n' { '\n' } else { ' ' }));
        }
        rest = later;
    }
    kept
}

/// Returns the kind and the length in bytes of the part of a Rust file that `text` begins with.
fn next_part(text: &str) -> (Part, usize) {
    let until = |end: usize| end.min(text.len());
    if text.starts_with("//") {
        return (Part::Comment, text.find('\n').unwrap_or(text.len()));
    }
    if let Some(body) = text.strip_prefix('"') {
        let mut escaped = false;
        let end = body.find(|letter| {
            let is_end = letter == '"' && !escaped;
            escaped = letter == '\\' && !escaped;
            is_end
        });
        return (Part::Text, end.map_or(text.len(), |end| end + 2));
    }
    let hashes = text.strip_prefix('r').map(|body| body.len() - body.trim_start_matches('#').len());
    if let Some(hashes) = hashes.filter(|hashes| text[1 + hashes..].starts_with('"')) {
        let end = format!("\"{}", "#".repeat(hashes));
        let start = 2 + hashes;
        return (Part::Text, text[start..].find(&end).map_or(text.len(), |at| until(start + at + end.len())));
    }
    // A character that would begin a text; a lifetime does not matter.
    for quoted in ["'\"'", "'\\\"'", "'\\''"] {
        if text.starts_with(quoted) {
            return (Part::Code, quoted.len());
        }
    }
    // A word as a whole: the `r` at its end begins no raw text.
    let word = text.find(|letter: char| !letter.is_alphanumeric() && letter != '_').unwrap_or(text.len());
    (Part::Code, if word > 0 { word } else { text.chars().next().map_or(1, char::len_utf8) })
}

#[cfg(test)]
mod tests {
    use super::*;

    const WORDS: &str = "# kind\nidentifier\tHeld\tInUse\nphrase\t\\bheld\\b\tin use\t[Ll]ock\n";

    fn findings(name: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        Words::parse(WORDS).expect("a list").check(name, text, &mut findings);
        findings
    }

    #[test]
    fn planted_words_are_found_where_they_count() {
        let planted = "struct Held;\n// it is held\nlet held = \"held\";\nr#\"a \"held\" b\"#;\n";
        let found = findings("crates/a.rs", planted);
        let lines: Vec<_> = found.iter().filter_map(|found| found.split(':').nth(1)).collect();
        assert_eq!(lines, ["1", "2", "3", "4"], "{found:?}");
        assert_eq!(findings("docs/guide/a.md", "It is held.").len(), 1);
    }

    #[test]
    fn allowed_contexts_code_spans_and_quotes_are_not_findings() {
        for fine in
            ["// the zone lock is held", "// `held` is a field", "let held = '\"'; // x", "let holder = 1;"]
        {
            assert_eq!(findings("crates/a.rs", fine), [""; 0], "{fine}");
        }
        assert_eq!(findings("docs/evidence/a.md", "held"), [""; 0]);
        assert_eq!(findings("traces/a.md", "held"), [""; 0]);
    }

    #[test]
    fn invalid_lists_name_the_line() {
        for wrong in ["phrase\t(\tx", "word\ta\tb", "phrase\ta"] {
            assert!(Words::parse(wrong).is_err(), "{wrong}");
        }
    }
}
