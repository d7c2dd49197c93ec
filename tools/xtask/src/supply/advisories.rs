//! The kept list of security advisories about the dependencies.
//!
//! Each line has a crate, an advisory and the versions that are not affected. A crate without advisories
//! has a line with dashes, so that a crate that was not looked up is found.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use semver::{Version, VersionReq};

const NONE: &str = "-";

/// Returns a line for each affected crate, and for each crate that the list lacks.
pub(super) fn findings(
    kept: &str,
    crates: &BTreeSet<(String, Version)>,
    file: &str,
) -> Result<Vec<String>, String> {
    let mut known: BTreeMap<&str, Vec<(&str, &str)>> = BTreeMap::new();
    for line in kept.lines().filter(|line| !line.starts_with('#')) {
        let mut cells = line.split('\t');
        let (Some(name), Some(advisory), Some(safe)) = (cells.next(), cells.next(), cells.next()) else {
            return Err(format!("{file}: {line:?} is not a crate, an advisory and versions"));
        };
        known.entry(name).or_default().push((advisory, safe));
    }
    let mut findings = Vec::new();
    for (name, version) in crates {
        let Some(advisories) = known.get(name.as_str()) else {
            findings.push(format!(
                "{name} was not looked up in RustSec's database: cargo xtask supply --keep --database FOLDER"
            ));
            continue;
        };
        for (advisory, safe) in advisories.iter().filter(|(advisory, _)| *advisory != NONE) {
            if !is_safe(version, safe).map_err(|error| format!("{file}: {name}: {error}"))? {
                findings.push(format!("{name} {version} is affected by {advisory}; not affected: {safe}"));
            }
        }
    }
    Ok(findings)
}

/// Returns true if one of the ranges, separated by `|`, contains the version.
fn is_safe(version: &Version, safe: &str) -> Result<bool, semver::Error> {
    for range in safe.split('|').map(str::trim).filter(|range| *range != NONE) {
        if VersionReq::parse(range)?.matches(version) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Makes the list from a checkout of the database.
pub(super) fn collect(database: &Path, crates: &BTreeSet<(String, Version)>) -> Result<String, String> {
    if !database.join("crates").is_dir() {
        return Err(format!("{}: no checkout of RustSec's advisory-db", database.display()));
    }
    let mut text = String::from(
        "# Advisories of RustSec about crates of Cargo.lock: crate, identifier, versions that are not affected.\n\
         # Written by `cargo xtask supply --keep --database FOLDER`, FOLDER being a checkout of rustsec/advisory-db.\n",
    );
    let names: BTreeSet<&str> = crates.iter().map(|(name, _)| name.as_str()).collect();
    for name in names {
        let mut rows = Vec::new();
        for entry in fs::read_dir(database.join("crates").join(name)).into_iter().flatten() {
            let path = entry.map_err(|error| format!("{}: {error}", database.display()))?.path();
            let advisory =
                fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            rows.extend(row(&advisory));
        }
        rows.sort();
        if rows.is_empty() {
            rows.push((NONE.to_owned(), NONE.to_owned()));
        }
        for (advisory, safe) in rows {
            // Writing to a `String` cannot fail.
            let _ = writeln!(text, "{name}\t{advisory}\t{safe}");
        }
    }
    Ok(text)
}

/// Returns identifier and safe versions of an advisory, or `None` if it was withdrawn.
fn row(advisory: &str) -> Option<(String, String)> {
    let head = advisory.split("```toml").nth(1)?.split("```").next()?;
    let field = |name: &str| {
        let at =
            head.lines().position(|line| line.split('=').next().is_some_and(|key| key.trim() == name))?;
        let mut value = String::new();
        for line in head.lines().skip(at) {
            value += line.split('#').next().unwrap_or_default();
            // A list may span several lines.
            if value.matches('[').count() == value.matches(']').count() {
                break;
            }
        }
        Some(value.split('"').skip(1).step_by(2).map(str::to_owned).collect::<Vec<_>>())
    };
    if field("withdrawn").is_some() {
        return None;
    }
    let id = field("id")?.into_iter().next()?;
    let safe = [field("patched").unwrap_or_default(), field("unaffected").unwrap_or_default()].concat();
    Some((id, if safe.is_empty() { NONE.to_owned() } else { safe.join(" | ") }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crates(list: &[(&str, &str)]) -> BTreeSet<(String, Version)> {
        list.iter().map(|(name, version)| ((*name).to_owned(), version.parse().unwrap())).collect()
    }

    #[test]
    fn an_affected_crate_and_an_unknown_one_are_found() {
        let kept = "# head\nold\tRUSTSEC-1\t>= 2.0.0 | <1.0.0\nfine\t-\t-\nnever\tRUSTSEC-2\t-\n";
        let found = |list: &[(&str, &str)]| findings(kept, &crates(list), "kept").unwrap();
        assert!(found(&[("old", "2.0.1"), ("old", "0.9.0"), ("fine", "1.0.0")]).is_empty());
        assert!(found(&[("old", "1.5.0")])[0].contains("RUSTSEC-1"));
        assert!(found(&[("never", "9.0.0")])[0].contains("RUSTSEC-2"), "nothing is safe");
        assert!(found(&[("new", "1.0.0")])[0].contains("not looked up"));
        assert!(findings("torn line", &crates(&[]), "kept").is_err());
    }

    #[test]
    fn an_advisory_becomes_a_row() {
        let head = "```toml\n[advisory]\nid = \"RUSTSEC-3\"\n[versions]\npatched = [\n  \">= 1.2\", # why\n  \"^0.9\",\n]\nunaffected = [\"< 0.1\"]\n```\ntext";
        assert_eq!(row(head), Some(("RUSTSEC-3".to_owned(), ">= 1.2 | ^0.9 | < 0.1".to_owned())));
        assert_eq!(row("```toml\nid = \"X\"\nwithdrawn = \"2020-01-01\"\n```"), None);
    }
}
