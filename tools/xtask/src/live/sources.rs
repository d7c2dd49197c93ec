//! The names of the tests in a live test program, read from its sources.

use std::fs;
use std::io;
use std::path::Path;

/// Returns the names of all tests below a crate's folder `live`, as the test harness names them, sorted.
///
/// # Errors
/// If a file cannot be read.
pub(super) fn tests(root: &Path, folder: &str) -> io::Result<Vec<String>> {
    let mut found = Vec::new();
    collect(&root.join(folder).join("live"), "", &mut found)?;
    found.sort();
    Ok(found)
}

fn collect(folder: &Path, module: &str, found: &mut Vec<String>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let inside = if module.is_empty() { format!("{name}::") } else { format!("{module}{name}::") };
        if path.is_dir() {
            collect(&path, &inside, found)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let module = if matches!(name.as_str(), "main" | "mod") { module } else { &inside };
            found.extend(named(&fs::read_to_string(&path)?).map(|test| format!("{module}{test}")));
        }
    }
    Ok(())
}

/// Returns the names of the functions with the attribute `#[test]`.
fn named(text: &str) -> impl Iterator<Item = &str> {
    text.split("#[test]").skip(1).filter_map(|after| after.split_once("fn ")?.1.split('(').next())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_have_the_names_of_their_modules() {
        let root = tempfile::tempdir().unwrap();
        let live = root.path().join("house/live");
        fs::create_dir_all(live.join("deep")).unwrap();
        fs::write(live.join("main.rs"), "mod one;\n#[test]\nfn top() {}\n").unwrap();
        fs::write(live.join("one.rs"), "fn help() {}\n#[test]\n#[cfg(x)]\nfn a() {}\n#[test]\nfn b() {}\n")
            .unwrap();
        fs::write(live.join("deep/mod.rs"), "#[test]\nfn c() {}\n").unwrap();
        assert_eq!(tests(root.path(), "house").unwrap(), ["deep::c", "one::a", "one::b", "top"]);
    }
}
