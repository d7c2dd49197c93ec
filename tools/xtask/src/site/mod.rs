//! `cargo xtask site`: makes a book of the documents, and a page that replays traces.
//!
//! [`page`] builds the page with a sample trace, and `book` runs mdBook.

mod book;
pub mod page;

use std::path::Path;
use std::process::{Command, Stdio};

/// The folder of the site.
const SITE: &str = "target/site";

/// Builds the book and, next to its pages, the page that replays traces. Returns false if a page of the book links to a
/// file that is not in the book. Reports a part that is skipped because a program is missing.
///
/// # Errors
/// If a program fails, or a file cannot be read or written.
pub fn run(root: &Path) -> Result<bool, String> {
    let site = root.join(SITE);
    let mut dead = Vec::new();
    let has_mdbook = Command::new("mdbook").arg("--version").stdout(Stdio::null()).status().is_ok();
    if has_mdbook {
        dead = book::build(root, &site)?;
        for line in &dead {
            println!("{line}");
        }
        println!("{}", site.join("book/index.html").display());
    } else {
        println!("SKIPPED: the book (no mdbook: cargo install mdbook --version 0.5.4 --locked)");
    }
    if let Some(why) = page::missing() {
        println!("SKIPPED: the page that replays traces ({why})");
    } else {
        let file = site.join("book/replay.html");
        let bytes = page::write(root, &site.join("build"), &file)?;
        println!("{}: {bytes} bytes", file.display());
    }
    Ok(dead.is_empty())
}
