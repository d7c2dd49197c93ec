//! The Debian mirror in this machine's own settings.

use std::fs;
use std::path::Path;

/// The prefixes of Debian's own suites; other vendors' repositories have other names.
const SUITES: [&str; 9] =
    ["bullseye", "bookworm", "trixie", "forky", "sid", "oldstable", "stable", "testing", "unstable"];

/// Returns the archive's address in apt's settings below `folder` (`/etc/apt`), if there is one.
pub fn configured(folder: &Path) -> Option<String> {
    let mut files = vec![folder.join("sources.list")];
    if let Ok(entries) = fs::read_dir(folder.join("sources.list.d")) {
        files.extend(entries.filter_map(|entry| Some(entry.ok()?.path())));
    }
    files.sort();
    files.iter().find_map(|file| {
        let text = fs::read_to_string(file).ok()?;
        match file.extension()?.to_str()? {
            "sources" => in_stanzas(&text),
            "list" => in_lines(&text),
            _ => None,
        }
    })
}

/// Returns the address in a file of the deb822 format (`.sources`).
pub fn in_stanzas(text: &str) -> Option<String> {
    let lines: Vec<_> = text.lines().filter(|line| !line.starts_with('#')).collect();
    let text = lines.join("\n");
    text.split("\n\n").find_map(|stanza| {
        let types = field(stanza, "Types");
        let is_on = field(stanza, "Enabled").first().is_none_or(|enabled| enabled != "no");
        let is_main = field(stanza, "Components").iter().any(|component| component == "main");
        let suites = field(stanza, "Suites");
        let is_debian = suites.iter().any(|suite| is_archive_suite(suite));
        let fits = types.iter().any(|kind| kind == "deb") && is_on && is_main && is_debian;
        if fits { field(stanza, "URIs").into_iter().next() } else { None }
    })
}

/// Returns the address in a file of the classic format (`.list`).
pub fn in_lines(text: &str) -> Option<String> {
    text.lines().find_map(|line| {
        let line = line.split('#').next()?.trim();
        let rest = line.strip_prefix("deb ").or_else(|| line.strip_prefix("deb\t"))?.trim_start();
        let rest = match rest.strip_prefix('[') {
            Some(options) => options.split_once(']')?.1,
            None => rest,
        };
        let mut words = rest.split_whitespace();
        let (address, suite) = (words.next()?, words.next()?);
        let fits = is_archive_suite(suite) && words.any(|component| component == "main");
        fits.then(|| address.to_owned())
    })
}

/// Returns the words of a field, including its continuation lines.
fn field(stanza: &str, name: &str) -> Vec<String> {
    let mut lines = stanza.lines().skip_while(|line| !is_field(line, name));
    let Some(first) = lines.next() else { return Vec::new() };
    let more = lines.take_while(|line| line.starts_with([' ', '\t']));
    let words = first[name.len() + 1..].split_whitespace().chain(more.flat_map(str::split_whitespace));
    words.map(str::to_owned).collect()
}

fn is_field(line: &str, name: &str) -> bool {
    line.get(..name.len()).is_some_and(|start| start.eq_ignore_ascii_case(name))
        && line[name.len()..].starts_with(':')
}

/// Returns true if the suite is in the main archive, not in the security archive.
fn is_archive_suite(suite: &str) -> bool {
    SUITES
        .iter()
        .any(|known| suite == *known || suite.strip_prefix(known).is_some_and(|s| s.starts_with('-')))
        && !suite.ends_with("-security")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stanzas_of_others_are_passed_over() {
        let text = "# A comment\n\
            Types: deb\nURIs: https://packages.example/node\nSuites: nodistro\nComponents: main\n\n\
            Types: deb\nURIs: http://mirror.example/debian-security\nSuites: bookworm-security\n\
            Components: main\n\n\
            Types: deb deb-src\n# http://snapshot.example\nURIs:\n http://mirror.example/debian\n http://b\n\
            Suites: bookworm\n bookworm-updates\nComponents: main\n";
        assert_eq!(in_stanzas(text).as_deref(), Some("http://mirror.example/debian"));
    }

    #[test]
    fn a_stanza_that_is_switched_off_does_not_count() {
        let text = "Types: deb\nURIs: http://m/debian\nSuites: sid\nComponents: main\nEnabled: no\n";
        assert_eq!(in_stanzas(text), None);
        assert_eq!(in_stanzas("Types: deb-src\nURIs: http://m\nSuites: sid\nComponents: main\n"), None);
    }

    #[test]
    fn classic_lines_are_read_with_and_without_options() {
        let text = "# deb http://old bookworm main\n\
            deb-src http://m/debian bookworm main\n\
            deb http://m/debian-security bookworm-security main\n\
            deb [arch=amd64 signed-by=/k.gpg] http://m/debian bookworm main contrib # ours\n";
        assert_eq!(in_lines(text).as_deref(), Some("http://m/debian"));
        assert_eq!(in_lines("deb\thttp://n/debian stable main\n").as_deref(), Some("http://n/debian"));
        assert_eq!(in_lines("deb https://packages.example nodistro main\n"), None);
    }
}
