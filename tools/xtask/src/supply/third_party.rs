//! The list of third-party licences of every crate in the binary.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const HEAD: &str = "# Third-party licences

This list has all crates in the binary `freehold` with the feature `bpf`, and the licence that each crate states. `cargo xtask supply`
checks the list against the build. `deny.toml` lists the permitted licences.

- Freehold's own code is GPL-2.0-or-later, except in `kernel/` and `crates/linux/bpf`.
- Some crates are under Apache-2.0 only. That licence is compatible with version 3 of the GPL, but not with version 2. The binary is
  therefore distributed under GPL-3.0.
- libbpf-sys contains libbpf, zstd-sys contains zstd, and liblzma-sys contains XZ Utils, under the licences that these crates state.
- With `bpf`, the binary links libelf and zlib dynamically. The binaries of `cargo xtask dist` contain them.

| crate | version | licence |
|---|---|---|
";

/// Makes the list from `cargo tree` of the binary's package.
pub(super) fn render(root: &Path) -> Result<String, String> {
    let ran = Command::new("cargo")
        .args(["tree", "--locked", "--package=freehold-cli", "--features=bpf"])
        .args(["--edges=normal,no-proc-macro", "--target=x86_64-unknown-linux-gnu"])
        .args(["--prefix=none", "--no-dedupe", "--format={p}\t{l}"])
        .current_dir(root)
        .output()
        .map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !ran.status.success() {
        return Err(format!("cargo tree failed: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    let text = String::from_utf8_lossy(&ran.stdout);
    let rows: BTreeSet<String> = text.lines().filter_map(row).collect();
    Ok(HEAD.to_owned() + &rows.into_iter().collect::<String>())
}

/// Returns a row of the table, or `None` for a package of this repository, whose line has its path.
fn row(line: &str) -> Option<String> {
    let (package, licence) = line.split_once('\t')?;
    let mut words = package.split(' ');
    let (name, version) = (words.next()?, words.next()?.trim_start_matches('v'));
    let is_own = words.next().is_some_and(|word| word.starts_with("(/"));
    (!is_own).then(|| format!("| {name} | {version} | {} |\n", licence.replace('/', " OR ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_of_the_repository_are_not_listed() {
        assert_eq!(row("freehold v0.1.0 (/home/of/freehold)\tGPL-2.0-or-later"), None);
        let foreign = row("libc v0.2.191\tMIT OR Apache-2.0").unwrap();
        assert_eq!(foreign, "| libc | 0.2.191 | MIT OR Apache-2.0 |\n");
    }
}
