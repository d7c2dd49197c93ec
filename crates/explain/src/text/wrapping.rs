//! Lines as a log has them come in; the kernel's lines go out, without JSON, mail encoding, HTML and colours.

use std::borrow::Cow;

use memchr::memmem;

/// What the lines before said about the wrapping of the text.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wrapping {
    /// True for mail in quoted-printable, where `=3D` stands for `=`.
    is_quoted_printable: bool,
    /// The start of a line that goes on in the next.
    before: String,
}

/// The most bytes that are kept of a line that goes on.
const MAX_BEFORE: usize = 4096;

/// The members of JSON that hold a message, in lower case.
const MESSAGE_KEYS: [&str; 6] = ["message", "msg", "log", "text", "textpayload", "line"];

impl Wrapping {
    /// Returns true if each line is by itself: no line waits for its rest, and no word may be broken.
    pub(crate) fn is_idle(&self) -> bool {
        self.before.is_empty() && !self.is_quoted_printable
    }

    /// Passes each of the kernel's lines in a line to `take`, and whether it is the first.
    pub(crate) fn unwrap(&mut self, line: &[u8], mut take: impl FnMut(&str, bool)) {
        let text = String::from_utf8_lossy(line);
        // The mark that Windows writes at the start of a text.
        let text = text.trim_start_matches(['\u{feff}', '\u{fffd}']);
        let Some(text) = self.decoded(text) else { return };
        let text = message(&text);
        let text = without_colours(&text);
        let text = without_html(&text);
        let mut is_first = true;
        for part in text.split(['\n', '\u{b}']).flat_map(|part| part.split("\\x0a")) {
            for part in part.split("#012").flat_map(|part| part.split("\\n")) {
                take(part, is_first);
                is_first = false;
            }
        }
    }

    /// Decodes quoted-printable. Returns `None` for a line that goes on in the next.
    fn decoded<'t>(&mut self, line: &'t str) -> Option<Cow<'t, str>> {
        let line = line.strip_suffix('\r').unwrap_or(line);
        self.is_quoted_printable |= line.contains("=3D") || line.ends_with("oding: quoted-printable");
        let open = line.strip_suffix('=').filter(|rest| {
            (self.is_quoted_printable || !rest.ends_with(' ')) && self.before.len() < MAX_BEFORE
        });
        if let Some(open) = open {
            self.before.push_str(open);
            return None;
        }
        if self.before.is_empty() && !self.is_quoted_printable {
            return Some(Cow::Borrowed(line));
        }
        let whole = std::mem::take(&mut self.before) + line;
        Some(Cow::Owned(if self.is_quoted_printable { from_quoted_printable(&whole) } else { whole }))
    }
}

/// Replaces `=3D` and its like. Other text stays.
fn from_quoted_printable(text: &str) -> String {
    let mut parts = text.split('=');
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let code = part.get(..2).and_then(|code| u8::from_str_radix(code, 16).ok());
        if let Some(byte) = code.filter(u8::is_ascii) {
            plain.push(char::from(byte));
            plain.push_str(&part[2..]);
        } else {
            plain.push('=');
            plain.push_str(part);
        }
    }
    plain
}

/// Returns the message of a line of JSON. Other lines stay.
fn message(line: &str) -> Cow<'_, str> {
    if !line.contains("\":") || !line.contains('{') {
        return Cow::Borrowed(line);
    }
    let json = &line[line.find('{').unwrap_or(0)..];
    let parsed: Option<serde_json::Value> =
        serde_json::Deserializer::from_str(json).into_iter().next().and_then(Result::ok);
    let found = parsed.as_ref().and_then(|value| find_message(value, 0));
    found.map_or(Cow::Borrowed(line), |text| Cow::Owned(text.trim_end().to_owned()))
}

/// Finds a message in objects up to three deep.
fn find_message(value: &serde_json::Value, depth: u8) -> Option<&str> {
    let members = value.as_object().filter(|_| depth < 3)?;
    let is_message = |key: &str| MESSAGE_KEYS.iter().any(|known| known.eq_ignore_ascii_case(key));
    let named = members.iter().filter(|(key, _)| is_message(key)).find_map(|(_, value)| value.as_str());
    named.or_else(|| members.values().find_map(|value| find_message(value, depth + 1)))
}

/// Removes the escapes of colours: `\x1b[33m`, as bytes or as `#033[33m`.
fn without_colours(text: &str) -> Cow<'_, str> {
    if !text.contains('\u{1b}') && !text.contains("#033[") {
        return Cow::Borrowed(text);
    }
    let text = text.replace("#033[", "\u{1b}[");
    let mut parts = text.split("\u{1b}[");
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        let end = part.find(|c: char| !c.is_ascii_digit() && c != ';').unwrap_or(part.len());
        plain.push_str(part[end..].strip_prefix(|c: char| c.is_ascii_alphabetic()).unwrap_or(&part[end..]));
    }
    Cow::Owned(plain)
}

/// Replaces the entities of HTML, and its tags by blanks or ends of lines.
fn without_html(text: &str) -> Cow<'_, str> {
    const ENTITIES: [(&str, &str); 7] = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#42;", "*"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ];
    let has_tag = memmem::find(text.as_bytes(), b"</").is_some() || text.contains("<br");
    if !has_tag && !text.contains('&') {
        return Cow::Borrowed(text);
    }
    let text = if has_tag { without_tags(text) } else { text.to_owned() };
    Cow::Owned(ENTITIES.iter().fold(text, |text, (from, to)| text.replace(from, to)))
}

/// Removes tags, which are in lower case: the kernel's own `<IRQ>` stays.
fn without_tags(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(start) = rest.find('<') {
        let tag = &rest[start + 1..];
        let is_tag = tag.trim_start_matches('/').starts_with(|c: char| c.is_ascii_lowercase());
        let end = tag.find('>').filter(|_| is_tag);
        plain.push_str(&rest[..start]);
        if let Some(end) = end {
            plain.push_str(if tag.starts_with("br") { "\n" } else { "" });
            rest = &tag[end + 1..];
        } else {
            plain.push('<');
            rest = tag;
        }
    }
    plain + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        let (mut wrapping, mut lines) = (Wrapping::default(), Vec::new());
        text.lines().for_each(|line| {
            wrapping.unwrap(line.as_bytes(), |line, _| lines.push(line.trim().to_owned()));
        });
        lines
    }

    #[test]
    fn wrappings_are_taken_off() {
        for (wrapped, plain) in [
            (
                r#"{"log":"[ 1.5] Mem-Info:\n","stream":"stdout","time":"2024-01-01T00:00:00Z"}"#,
                "[ 1.5] Mem-Info:",
            ),
            (r#"{"PRIORITY":"4","MESSAGE":"Mem-Info:","_TRANSPORT":"kernel"}"#, "Mem-Info:"),
            (r#"2024-01-01 host: {"a":1,"b":{"message":"Mem-Info:"}}"#, "Mem-Info:"),
            ("\u{1b}[32m[ 1.5] \u{1b}[0mMem-Info:\u{1b}[K", "[ 1.5] Mem-Info:"),
            ("host kernel: #033[33mMem-Info:#033[0m", "host kernel: Mem-Info:"),
            ("&gt; &lt;4&gt;Mem-Info:", "> <4>Mem-Info:"),
            ("<p>1<em>4kB 1</em>8kB</p>", "14kB 18kB"),
            ("nodemask=3D(null)", "nodemask=(null)"),
        ] {
            assert_eq!(lines(wrapped), [plain], "{wrapped}");
        }
    }

    #[test]
    fn several_lines_in_one_are_split() {
        assert_eq!(lines("a\\x0ab#012c<br>d"), ["a", "b", "c", "d"]);
        assert_eq!(lines(r#"{"msg":"a\nb\\nc"}"#), ["a", "b", "c"]);
        assert_eq!(lines("order:=\n0, mode:0x1\nx =\ny"), ["order:0, mode:0x1", "x =", "y"]);
    }

    #[test]
    fn what_is_no_wrapping_stays() {
        for text in ["<IRQ>", "a & b", "{ a: 1 }", "{\"log\":", "a = b", "x</", "<br", "=3"] {
            assert_eq!(lines(text), [text]);
        }
    }
}
