//! Checks the order of imports between each crate's rooms, and that no files import each other in a circle.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::Path;

use super::crates::crates;
use super::imports::{self, Import};

/// The heading in ARCHITECTURE.md of the table of rooms.
const HEADING: &str = "### The order of the rooms";

/// The start of a comment that permits the import below it to close a circle.
const DEFENCE: &str = "// Circle:";

/// Adds a finding for each import against the order of rooms, and for each circle of files.
///
/// # Errors
/// If a file cannot be read or parsed.
pub(super) fn findings(root: &Path, architecture: &str, findings: &mut Vec<String>) -> io::Result<()> {
    let orders = orders(architecture);
    for each in crates(root)? {
        let name = &each.name;
        let Some(order) = orders.get(name.as_str()) else {
            findings.push(format!("ARCHITECTURE.md: does not say the order of the rooms of `{name}`"));
            continue;
        };
        for root_file in each.root_files() {
            of_root(root, &root_file, order, findings)?;
        }
        let rooms = rooms(&each.source)?;
        for room in order.iter().filter(|room| !rooms.contains(*room)) {
            findings.push(format!("ARCHITECTURE.md: `{name}` has no room `{room}`"));
        }
        for room in rooms.iter().filter(|room| !order.contains(room)) {
            findings.push(format!("ARCHITECTURE.md: does not say where `{room}` of `{name}` stands"));
        }
    }
    Ok(())
}

/// Returns the rooms of each crate in order. A room may import from those before it.
fn orders(architecture: &str) -> BTreeMap<&str, Vec<String>> {
    let section = architecture.split(HEADING).nth(1).unwrap_or_default();
    let lines = section.lines().skip(1).take_while(|line| !line.starts_with('#'));
    let rows = lines.filter_map(|line| line.strip_prefix("| `")?.split_once('`'));
    rows.map(|(name, rest)| (name, rest.split('`').skip(1).step_by(2).map(str::to_owned).collect())).collect()
}

/// Returns the rooms of a crate: its folders, and the files beside them.
fn rooms(source: &Path) -> io::Result<BTreeSet<String>> {
    let mut rooms = BTreeSet::new();
    for entry in fs::read_dir(source)? {
        let path = entry?.path();
        let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default().to_owned();
        let is_source = path.is_dir() || path.extension().is_some_and(|extension| extension == "rs");
        if is_source && !["lib", "main", "bin"].contains(&stem.as_str()) && !stem.ends_with("_tests") {
            rooms.insert(stem);
        }
    }
    Ok(rooms)
}

fn of_root(root: &Path, root_file: &Path, order: &[String], findings: &mut Vec<String>) -> io::Result<()> {
    let (_, imports) = imports::of_crate(root_file)?;
    let source = root_file.parent().unwrap_or(root);
    let shown = |file: &Path| file.strip_prefix(root).unwrap_or(file).display().to_string();
    let room = |file: &Path| {
        let inside = file.strip_prefix(source).unwrap_or(file);
        let first = inside.components().next().map(|part| part.as_os_str().to_string_lossy().into_owned());
        first.unwrap_or_default().trim_end_matches(".rs").to_owned()
    };
    let place = |file: &Path| order.iter().position(|name| *name == room(file));
    for import in &imports {
        let (file, line) = (shown(&import.from), import.line);
        if import.by_root && import.from != root_file {
            let written = &import.written;
            findings.push(format!("{file}:{line}: `{written}` goes by the crate's root; name the module"));
        }
        if let (Some(from), Some(to)) = (place(&import.from), place(&import.to))
            && from < to
        {
            let (from, to) = (room(&import.from), room(&import.to));
            findings.push(format!("{file}:{line}: `{from}` stands before `{to}` and may not import from it"));
        }
    }
    let edges = undefended(&imports)?;
    for circle in circles(&edges) {
        let files: Vec<_> = circle.iter().map(|file| shown(file)).collect();
        findings.push(format!("a circle of files: {}", files.join(" → ")));
    }
    Ok(())
}

/// Returns the files that each file imports, without imports that a comment permits.
fn undefended(imports: &BTreeSet<Import>) -> io::Result<BTreeMap<&Path, BTreeSet<&Path>>> {
    let mut edges: BTreeMap<&Path, BTreeSet<&Path>> = BTreeMap::new();
    let mut texts: BTreeMap<&Path, String> = BTreeMap::new();
    for import in imports {
        if !texts.contains_key(import.from.as_path()) {
            texts.insert(&import.from, fs::read_to_string(&import.from)?);
        }
        let lines: Vec<_> = texts[import.from.as_path()].lines().collect();
        let above = lines[..import.line - 1].iter().rev();
        let mut comment = above.map(|line| line.trim()).take_while(|line| line.starts_with("//"));
        if !comment.any(|line| line.starts_with(DEFENCE)) {
            edges.entry(&import.from).or_default().insert(&import.to);
        }
    }
    Ok(edges)
}

/// Returns a shortest circle through each file that is part of one; each set of files once.
fn circles<'p>(edges: &BTreeMap<&'p Path, BTreeSet<&'p Path>>) -> Vec<Vec<&'p Path>> {
    let mut found: Vec<Vec<&Path>> = Vec::new();
    let mut known: BTreeSet<BTreeSet<&Path>> = BTreeSet::new();
    for &start in edges.keys() {
        let mut origin: BTreeMap<&Path, &Path> = BTreeMap::new();
        let mut next = vec![start];
        while !next.is_empty() && !origin.contains_key(start) {
            let mut further = Vec::new();
            for file in next {
                for &to in edges.get(file).into_iter().flatten() {
                    if !origin.contains_key(to) {
                        origin.insert(to, file);
                        further.push(to);
                    }
                }
            }
            next = further;
        }
        if let Some(&last) = origin.get(start) {
            let mut circle = vec![start, last];
            while circle[circle.len() - 1] != start {
                circle.push(origin[circle[circle.len() - 1]]);
            }
            circle.reverse();
            if known.insert(circle.iter().copied().collect()) {
                found.push(circle);
            }
        }
    }
    found
}
