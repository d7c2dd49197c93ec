//! The list of third-party licences of every crate in the binary.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

const HEAD: &str = "# Third-party licences

What the binary `freehold` is linked from besides this repository, with the feature `bpf`: one line a crate, with the licence that the
crate states. `cargo xtask supply` holds this list against what is built, and `deny.toml` says which licences may come in.

Freehold's own code outside `kernel/` and `crates/linux/bpf` is GPL-2.0-or-later. Some of these crates are Apache-2.0 alone, which goes
together with version 3 of the GPL and not with version 2: whoever distributes the binary does so under version 3. libbpf-sys carries
libbpf, zstd-sys carries zstd, and liblzma-sys carries XZ Utils, built in under the licences that these crates state; with `bpf`, libelf
and zlib are linked dynamically, and are inside what `cargo xtask dist` builds.

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
    fn packages_of_the_repository_are_not_foreign() {
        assert_eq!(row("freehold v0.1.0 (/home/of/freehold)\tGPL-2.0-or-later"), None);
        let foreign = row("libc v0.2.191\tMIT OR Apache-2.0").unwrap();
        assert_eq!(foreign, "| libc | 0.2.191 | MIT OR Apache-2.0 |\n");
    }
}
