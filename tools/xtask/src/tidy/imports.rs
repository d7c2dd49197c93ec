//! The imports between a crate's source files, read from the code.
//!
//! An import is followed through re-exports to the file that defines the item. Tests are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use syn::punctuated::Punctuated;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};
use syn::{Attribute, Expr, Item, Token, UseTree, Visibility};

/// An import of one file by another.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) struct Import {
    pub(super) from: PathBuf,
    pub(super) to: PathBuf,
    /// The line of the import.
    pub(super) line: usize,
    /// The path as written.
    pub(super) written: String,
    /// True if the path starts at the crate's root and names an item that the root only re-exports.
    pub(super) by_root: bool,
}

/// Reads a crate from its root file. Returns every file and every import.
pub(super) fn of_crate(root_file: &Path) -> io::Result<(BTreeSet<PathBuf>, BTreeSet<Import>)> {
    let mut modules = Modules { all: Vec::new() };
    modules.load(root_file, None)?;
    let mut imports = BTreeSet::new();
    for number in 0..modules.all.len() {
        modules.imports_of(number, &mut imports);
    }
    Ok((modules.all.into_iter().map(|module| module.file).collect(), imports))
}

/// A module: a file or a part of one.
struct Module {
    file: PathBuf,
    parent: Option<usize>,
    children: BTreeMap<String, usize>,
    /// Names of the items that it defines.
    items: BTreeSet<String>,
    uses: Vec<Use>,
    /// Paths in its code.
    paths: Vec<(Vec<String>, usize)>,
}

/// A name that a `use` brings in; `*` for all.
struct Use {
    name: String,
    path: Vec<String>,
    line: usize,
    passes_on: bool,
}

/// The target of a path.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Target {
    Module(usize),
    ItemOf(usize),
}

struct Modules {
    all: Vec<Module>,
}

impl Modules {
    fn load(&mut self, file: &Path, parent: Option<usize>) -> io::Result<usize> {
        let text = fs::read_to_string(file)?;
        let parsed = syn::parse_file(&text)
            .map_err(|error| io::Error::other(format!("{}: {error}", file.display())))?;
        let stem = file.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let beside = file.parent().unwrap_or(Path::new("."));
        let inside =
            if ["lib", "main", "mod"].contains(&stem) { beside.to_owned() } else { beside.join(stem) };
        self.add(file, &inside, parent, &parsed.items)
    }

    /// Adds a module whose submodules' files are in `inside`.
    fn add(
        &mut self,
        file: &Path,
        inside: &Path,
        parent: Option<usize>,
        items: &[Item],
    ) -> io::Result<usize> {
        let number = self.all.len();
        let mut code = Code::default();
        for item in items.iter().filter(|item| !is_test(item)) {
            match item {
                Item::Mod(_) => {}
                Item::Use(import) => {
                    let passes_on = !matches!(import.vis, Visibility::Inherited);
                    let line = import.span().start().line;
                    flatten(&import.tree, &[], &mut |path, name| {
                        code.uses.push(Use { name, path, line, passes_on });
                    });
                }
                _ => {
                    code.items.extend(name_of(item));
                    code.visit_item(item);
                }
            }
        }
        let file = file.to_owned();
        let Code { items: names, uses, paths } = code;
        self.all.push(Module { file, parent, children: BTreeMap::new(), items: names, uses, paths });
        for item in items.iter().filter(|item| !is_test(item)) {
            let Item::Mod(module) = item else { continue };
            let name = module.ident.to_string();
            let child = if let Some((_, items)) = &module.content {
                let file = self.all[number].file.clone();
                self.add(&file, &inside.join(&name), Some(number), items)?
            } else {
                let flat = inside.join(format!("{name}.rs"));
                let file = if flat.exists() { flat } else { inside.join(&name).join("mod.rs") };
                if !file.exists() {
                    continue;
                }
                self.load(&file, Some(number))?
            };
            self.all[number].children.insert(name, child);
        }
        Ok(number)
    }

    fn imports_of(&self, number: usize, imports: &mut BTreeSet<Import>) {
        let module = &self.all[number];
        let passes_on = module.file.ends_with("mod.rs") || module.file.ends_with("lib.rs");
        let named = module.uses.iter().filter(|import| !(import.passes_on && passes_on));
        let named = named.map(|import| (&import.path, import.line));
        let written = module.paths.iter().map(|(path, line)| (path, *line));
        for (path, line) in named.chain(written) {
            let Some(target) = self.resolve(number, path, 0) else { continue };
            let (Target::Module(to) | Target::ItemOf(to)) = target;
            let (from, to) = (module.file.clone(), self.all[to].file.clone());
            let starts_at_root = path[0] == "crate" && path.len() > 1;
            let is_room = path.get(1).is_some_and(|name| self.all[0].children.contains_key(name));
            let by_root = starts_at_root && !is_room && to != self.all[0].file;
            if from != to {
                imports.insert(Import { from, to, line, written: path.join("::"), by_root });
            }
        }
    }

    /// Resolves a path to the module that defines its item; `None` for other crates' items.
    fn resolve(&self, from: usize, path: &[String], depth: usize) -> Option<Target> {
        if depth > 16 {
            return None;
        }
        let mut at = from;
        let mut rest = path;
        match path.first()?.as_str() {
            "crate" => {
                at = 0;
                rest = &path[1..];
            }
            "self" => rest = &path[1..],
            "super" => {}
            first if self.all[from].children.contains_key(first) => {}
            first => {
                // The first name may be a module that a `use` has brought in.
                let import = self.all[from].uses.iter().find(|import| import.name == first)?;
                if path.len() < 2 || import.path.first().is_some_and(|start| start == first) {
                    return None;
                }
                let Target::Module(module) = self.resolve(from, &import.path, depth + 1)? else {
                    return None;
                };
                at = module;
                rest = &path[1..];
            }
        }
        for (place, name) in rest.iter().enumerate() {
            if name == "super" {
                at = self.all[at].parent?;
            } else if name == "*" || name == "self" {
                break;
            } else if let Some(&child) = self.all[at].children.get(name) {
                at = child;
            } else {
                let is_last = place + 1 == rest.len();
                return Some(self.item(at, name, &rest[place + 1..], is_last, depth));
            }
        }
        Some(Target::Module(at))
    }

    /// Finds the module that defines an item which module `at` defines or re-exports.
    fn item(&self, at: usize, name: &str, behind: &[String], is_last: bool, depth: usize) -> Target {
        let module = &self.all[at];
        if module.items.contains(name) {
            return Target::ItemOf(at);
        }
        for import in module.uses.iter().filter(|import| import.name == name) {
            if let Some(found) = self.resolve(at, &import.path, depth + 1) {
                return match found {
                    Target::Module(inner) if !is_last => self
                        .resolve(inner, &[&["self".to_owned()], behind].concat(), depth + 1)
                        .unwrap_or(found),
                    _ => found,
                };
            }
        }
        for glob in module.uses.iter().filter(|import| import.name == "*") {
            if let Some(Target::Module(inner)) = self.resolve(at, &glob.path, depth + 1)
                && inner != at
                && self.all[inner].items.contains(name)
            {
                return Target::ItemOf(inner);
            }
        }
        Target::ItemOf(at)
    }
}

/// The names in a module's code.
#[derive(Default)]
struct Code {
    items: BTreeSet<String>,
    uses: Vec<Use>,
    paths: Vec<(Vec<String>, usize)>,
}

impl<'ast> Visit<'ast> for Code {
    fn visit_path(&mut self, path: &'ast syn::Path) {
        let segments: Vec<_> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if segments.len() > 1 {
            self.paths.push((segments, path.span().start().line));
        }
        visit::visit_path(self, path);
    }

    fn visit_item_use(&mut self, import: &'ast syn::ItemUse) {
        let line = import.span().start().line;
        flatten(&import.tree, &[], &mut |path, _| self.paths.push((path, line)));
    }

    fn visit_macro(&mut self, call: &'ast syn::Macro) {
        let arguments = call.parse_body_with(Punctuated::<Expr, Token![,]>::parse_terminated);
        for argument in arguments.iter().flatten() {
            self.visit_expr(argument);
        }
        visit::visit_macro(self, call);
    }
}

fn flatten(tree: &UseTree, before: &[String], found: &mut impl FnMut(Vec<String>, String)) {
    let with = |name: String| [before, &[name]].concat();
    match tree {
        UseTree::Path(path) => flatten(&path.tree, &with(path.ident.to_string()), found),
        UseTree::Name(name) if name.ident == "self" => {
            found(before.to_owned(), before.last().cloned().unwrap_or_default());
        }
        UseTree::Name(name) => found(with(name.ident.to_string()), name.ident.to_string()),
        UseTree::Rename(name) => found(with(name.ident.to_string()), name.rename.to_string()),
        UseTree::Glob(_) => found(with("*".to_owned()), "*".to_owned()),
        UseTree::Group(group) => group.items.iter().for_each(|tree| flatten(tree, before, found)),
    }
}

fn name_of(item: &Item) -> Option<String> {
    Some(match item {
        Item::Const(item) => item.ident.to_string(),
        Item::Enum(item) => item.ident.to_string(),
        Item::Fn(item) => item.sig.ident.to_string(),
        Item::Static(item) => item.ident.to_string(),
        Item::Struct(item) => item.ident.to_string(),
        Item::Trait(item) => item.ident.to_string(),
        Item::Type(item) => item.ident.to_string(),
        Item::Union(item) => item.ident.to_string(),
        _ => return None,
    })
}

/// Returns true if the item is compiled for tests only.
pub(super) fn is_test(item: &Item) -> bool {
    let attributes: &[Attribute] = match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => return false,
    };
    attributes.iter().any(|attribute| {
        attribute.path().is_ident("cfg")
            && attribute.parse_args::<syn::Path>().is_ok_and(|path| path.is_ident("test"))
    })
}
