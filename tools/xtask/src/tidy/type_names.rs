//! Checks that no two public types of a crate have the same name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use syn::{Ident, Item, Visibility};

use super::crates::{Crate, crates};
use super::imports;

/// The place of a type's definition: file and line.
type Place = (PathBuf, usize);

/// Adds a finding for each name that two public types of a crate have. Tests are left out.
///
/// # Errors
/// If a file cannot be read or parsed.
pub(super) fn findings(root: &Path, findings: &mut Vec<String>) -> io::Result<()> {
    for each in crates(root)? {
        for (name, places) in public_types(&each)? {
            if let [first, others @ ..] = places.iter().collect::<Vec<_>>().as_slice() {
                let shown = |(file, line): &Place| {
                    format!("{}:{line}", file.strip_prefix(root).unwrap_or(file).display())
                };
                for other in others {
                    let (first, other) = (shown(first), shown(other));
                    findings.push(format!("{other}: `{name}` is also the name of a public type in {first}"));
                }
            }
        }
    }
    Ok(())
}

/// Returns the places of a crate's public structs, enums, unions, traits and type aliases by name.
fn public_types(of: &Crate) -> io::Result<BTreeMap<String, BTreeSet<Place>>> {
    let mut types = BTreeMap::new();
    for root_file in of.root_files() {
        let (files, _) = imports::of_crate(&root_file)?;
        for file in files {
            let parsed = syn::parse_file(&fs::read_to_string(&file)?)
                .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
            collect(&file, &parsed.items, &mut types);
        }
    }
    Ok(types)
}

fn collect(file: &Path, items: &[Item], types: &mut BTreeMap<String, BTreeSet<Place>>) {
    for item in items.iter().filter(|item| !imports::is_test(item)) {
        if let Item::Mod(module) = item {
            let inside = module.content.as_ref().map_or(&[][..], |(_, items)| items);
            collect(file, inside, types);
        } else if let Some(name) = public_type(item) {
            types.entry(name.to_string()).or_default().insert((file.to_owned(), name.span().start().line));
        }
    }
}

/// Returns the name of a type that is `pub` without restriction.
fn public_type(item: &Item) -> Option<&Ident> {
    let (visibility, name) = match item {
        Item::Enum(item) => (&item.vis, &item.ident),
        Item::Struct(item) => (&item.vis, &item.ident),
        Item::Trait(item) => (&item.vis, &item.ident),
        Item::Type(item) => (&item.vis, &item.ident),
        Item::Union(item) => (&item.vis, &item.ident),
        _ => return None,
    };
    matches!(visibility, Visibility::Public(_)).then_some(name)
}
