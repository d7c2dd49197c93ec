//! The crates in `Cargo.lock`.

use std::collections::BTreeSet;

use semver::Version;

/// Returns name and version of every crate from a registry.
pub(super) fn crates(lock: &str) -> Result<BTreeSet<(String, Version)>, String> {
    let mut found = BTreeSet::new();
    for package in lock.split("[[package]]").skip(1) {
        let field = |name: &str| {
            let lines = package.lines();
            lines
                .filter_map(|line| line.split_once(" = "))
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.trim_matches('"').to_owned())
        };
        let (Some(name), Some(version), Some(_)) = (field("name"), field("version"), field("source")) else {
            continue;
        };
        let version = Version::parse(&version).map_err(|error| format!("Cargo.lock: {name}: {error}"))?;
        found.insert((name, version));
    }
    Ok(found)
}
