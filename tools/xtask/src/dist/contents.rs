//! Lists of a release's contents: SPDX for programs, and full licence texts for people.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use super::inside::Part;

/// Returns an SPDX 2.3 document about the file `name`, which is described by `what` and a commit. `time` is the time of
/// the commit in the format of RFC 3339.
pub(crate) fn spdx(parts: &[Part], name: &str, what: &str, version: &str, commit: &str, time: &str) -> Value {
    let whole = json!({
        "SPDXID": WHOLE,
        "name": "freehold",
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "GPL-3.0-or-later",
        "licenseDeclared": "GPL-2.0-or-later",
        "copyrightText": "NOASSERTION",
        "comment": format!("{what} of commit {commit}"),
    });
    let packages: Vec<Value> = parts.iter().enumerate().map(|(number, part)| package(number, part)).collect();
    let describes = relation("SPDXRef-DOCUMENT", "DESCRIBES", WHOLE);
    let contains = (0..parts.len()).map(|number| relation(WHOLE, "CONTAINS", &id(number)));
    json!({
        "spdxVersion": "SPDX-2.3",
        "dataLicense": "CC0-1.0",
        "SPDXID": "SPDXRef-DOCUMENT",
        "name": name,
        "documentNamespace": format!("https://spdx.org/spdxdocs/{name}-{commit}"),
        "creationInfo": { "created": time, "creators": ["Tool: cargo-xtask-dist"] },
        "packages": std::iter::once(whole).chain(packages).collect::<Vec<_>>(),
        "relationships": std::iter::once(describes).chain(contains).collect::<Vec<_>>(),
    })
}

/// The identifier of the whole.
const WHOLE: &str = "SPDXRef-Whole";

fn id(number: usize) -> String {
    format!("SPDXRef-Part-{number}")
}

fn relation(of: &str, kind: &str, to: &str) -> Value {
    json!({ "spdxElementId": of, "relationshipType": kind, "relatedSpdxElement": to })
}

fn package(number: usize, part: &Part) -> Value {
    let Part { name, version, licence, sum, .. } = part;
    let mut package = json!({
        "SPDXID": id(number),
        "name": name,
        "versionInfo": version,
        "downloadLocation": "NOASSERTION",
        "filesAnalyzed": false,
        "licenseConcluded": "NOASSERTION",
        "licenseDeclared": if licence.is_empty() { "NOASSERTION" } else { licence },
        "copyrightText": "NOASSERTION",
    });
    if let Some(sum) = sum {
        package["checksums"] = json!([{ "algorithm": "SHA256", "checksumValue": sum }]);
        package["downloadLocation"] =
            format!("https://crates.io/api/v1/crates/{name}/{version}/download").into();
        let locator = format!("pkg:cargo/{name}@{version}");
        package["externalRefs"] = json!([{
            "referenceCategory": "PACKAGE-MANAGER", "referenceType": "purl", "referenceLocator": locator,
        }]);
    }
    package
}

/// Returns each licence or notice in the sources of `parts` once, below the names of the parts that contain it.
pub(crate) fn licences(parts: &[Part]) -> String {
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for part in parts {
        for text in part.folder.iter().flat_map(|folder| texts_in(folder)) {
            let names = texts.entry(text).or_default();
            let name = format!("{} {}", part.name, part.version);
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    let mut sections: Vec<_> = texts.into_iter().map(|(text, names)| (names.join(", "), text)).collect();
    sections.sort();
    sections.iter().fold(String::new(), |mut all, (names, text)| {
        let _ = write!(all, "{names}\n\n{}\n\n{}\n\n", text.trim(), "-".repeat(80));
        all
    })
}

/// Returns the texts of a folder's files with the name of a licence or notice.
fn texts_in(folder: &Path) -> Vec<String> {
    let is_text = |name: &str| {
        let name = name.to_ascii_uppercase();
        ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE"].iter().any(|begins| name.starts_with(begins))
    };
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let files = entries.filter(|entry| is_text(&entry.file_name().to_string_lossy()));
    files.filter_map(|entry| fs::read_to_string(entry.path()).ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(name: &str, sum: Option<&str>, folder: Option<&Path>) -> Part {
        Part {
            name: name.to_owned(),
            version: "1.0.0".to_owned(),
            licence: "MIT".to_owned(),
            sum: sum.map(str::to_owned),
            folder: folder.map(Path::to_owned),
        }
    }

    #[test]
    fn every_part_is_in_the_program() {
        let parts = [part("a", Some("ab"), None), part("musl", None, None)];
        let document = spdx(&parts, "a-0.1.0", "The program", "0.1.0", "abc", "2026-01-01T00:00:00Z");
        assert_eq!(document["packages"].as_array().unwrap().len(), 3);
        assert_eq!(document["packages"][1]["checksums"][0]["checksumValue"], "ab");
        assert_eq!(document["packages"][2].get("checksums"), None);
        let relations = document["relationships"].as_array().unwrap();
        assert_eq!(relations.len(), 3);
        assert_eq!(relations[2]["relatedSpdxElement"], document["packages"][2]["SPDXID"]);
    }

    #[test]
    fn shared_text_is_listed_once() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("LICENSE-MIT"), "Permission is granted\n").unwrap();
        fs::write(folder.path().join("main.rs"), "not this").unwrap();
        let parts = [part("a", None, Some(folder.path())), part("b", None, Some(folder.path()))];
        let text = licences(&parts);
        assert!(text.starts_with("a 1.0.0, b 1.0.0\n\nPermission is granted\n\n---"), "{text}");
        assert_eq!(text.matches("Permission").count(), 1);
        assert!(!text.contains("not this"));
    }
}
