//! The book: takes the documents that docs/SUMMARY.md lists, and makes pages with mdBook.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::markdown::{SUMMARY, local_links, resolve};

/// Builds the book in the folder of the site, and returns a line for each dead link in it.
///
/// # Errors
/// If mdBook fails, or a file cannot be read or written.
pub(super) fn build(root: &Path, site: &Path) -> Result<Vec<String>, String> {
    let source = site.join("source");
    // Removes the pages of earlier runs, which may no longer be listed.
    let _ = fs::remove_dir_all(&source);
    let pages = pages(root)?;
    let mut files = pages.clone();
    for page in &pages {
        let text = read(root, page)?;
        let targets = local_links(&text).filter_map(|link| resolve(page, link));
        files.extend(targets.filter(|target| root.join(target).is_file()));
    }
    for file in &files {
        copy(&root.join(file), &source.join(file))?;
    }
    // mdBook requires the list to be in a folder that contains all pages.
    let summary = read(root, Path::new(SUMMARY))?.replace("](", "](docs/").replace("](docs/../", "](");
    write(&source.join("SUMMARY.md"), &summary)?;
    copy(&root.join("book.toml"), &site.join("book.toml"))?;
    let built = Command::new("mdbook").arg("build").arg(site).status();
    let built = built.map_err(|error| format!("mdBook cannot be started: {error}"))?;
    if !built.success() {
        return Err(format!("mdBook failed ({built}); what it read is in {}", source.display()));
    }
    dead_links(&site.join("book"))
}

/// Returns a line for each link of the book's pages that leads to no file of the book.
fn dead_links(book: &Path) -> Result<Vec<String>, String> {
    let mut dead = Vec::new();
    let mut folders = vec![book.to_owned()];
    while let Some(folder) = folders.pop() {
        let failed = |error| format!("{} cannot be read: {error}", folder.display());
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let path = entry.map_err(failed)?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "html") {
                let text = read(book, &path)?;
                let targets = text.split("href=\"").skip(1).filter_map(|rest| rest.split('"').next());
                let targets = targets.map(|target| target.split('#').next().unwrap_or_default());
                let local = targets.filter(|target| !target.contains(':') && !target.is_empty());
                // Links of the 404 page are relative to the requested page.
                let local = local.filter(|_| !path.ends_with("404.html"));
                let gone = local.filter(|target| !folder.join(target).exists());
                dead.extend(gone.map(|target| format!("{}: links to {target}", path.display())));
            }
        }
    }
    Ok(dead)
}

/// Returns the pages in the list, relative to the repository.
fn pages(root: &Path) -> Result<BTreeSet<PathBuf>, String> {
    let summary = Path::new(SUMMARY);
    let text = read(root, summary)?;
    let outside = |link: &str| format!("{SUMMARY}: {link} leads out of the repository");
    local_links(&text).map(|link| resolve(summary, link).ok_or_else(|| outside(link))).collect()
}

fn read(root: &Path, file: &Path) -> Result<String, String> {
    fs::read_to_string(root.join(file)).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

fn write(path: &Path, text: &str) -> Result<(), String> {
    fs::write(path, text).map_err(|error| format!("{} cannot be written: {error}", path.display()))
}

fn copy(from: &Path, to: &Path) -> Result<(), String> {
    let folder = to.parent().unwrap_or(Path::new("."));
    let copied = fs::create_dir_all(folder).and_then(|()| fs::copy(from, to));
    copied
        .map(drop)
        .map_err(|error| format!("{} cannot be copied to {}: {error}", from.display(), to.display()))
}
