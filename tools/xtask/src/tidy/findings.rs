//! The checks of STYLE.md and ARCHITECTURE.md.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::documents::Documents;
use super::words::Words;
use super::{rooms, tests_left_out, type_names};

/// The list of the files that may contain unsafe code.
const ISLANDS: &str = "docs/design/unsafe-code.md";

/// The most lines of a source file without its tests.
const FILE_LINES: usize = 400;

/// The most lines of a function.
const FUNCTION_LINES: usize = 70;

/// The most bytes of a committed trace.
const TRACE_BYTES: u64 = 8 << 20;

/// Returns a line for each finding.
///
/// # Errors
/// If a file cannot be read.
pub fn findings(root: &Path) -> io::Result<Vec<String>> {
    let mut findings = Vec::new();
    let files = files(root)?;
    let documents = Documents::new(root, &files);
    let architecture = fs::read_to_string(root.join("ARCHITECTURE.md"))?;
    // Without the list, every island is a finding.
    let islands = fs::read_to_string(root.join(ISLANDS)).unwrap_or_default();
    let words = Words::read(root)?;
    for file in &files {
        let name = file.strip_prefix(root).unwrap_or(file).display().to_string();
        if matches!(
            file.extension().and_then(|it| it.to_str()),
            Some("rs" | "md" | "py" | "pyi" | "js" | "html" | "sh")
        ) {
            words.check(&name, &fs::read_to_string(file)?, &mut findings);
        }
        match file.extension().and_then(|extension| extension.to_str()) {
            Some("rs") => source(&name, &fs::read_to_string(file)?, &islands, &mut findings),
            Some("md") => documents.check(&name, &fs::read_to_string(file)?, &mut findings),
            Some("arrows") => trace(file, &name, &mut findings)?,
            Some("c" | "h") => licence(&name, &fs::read_to_string(file)?, &mut findings),
            _ => {}
        }
    }
    documents.check_summary(&mut findings)?;
    rooms::findings(root, &architecture, &mut findings)?;
    type_names::findings(root, &mut findings)?;
    tests_left_out::findings(root, &files, &mut findings)?;
    Ok(findings)
}

/// Returns every kept file, without build output and hidden folders.
fn files(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if path.is_dir() {
                let skipped = ["target", "corpus", "artifacts", "fixtures"];
                if !name.starts_with('.') && !skipped.contains(&name) {
                    folders.push(path);
                }
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

fn source(name: &str, text: &str, islands: &str, findings: &mut Vec<String>) {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let is_test = ["/tests/", "/live/", "/benches/"].iter().any(|folder| name.contains(folder))
        || name.ends_with("_tests.rs");
    let lines = code.lines().count();
    if !is_test && lines > FILE_LINES {
        findings.push(format!("{name}: {lines} lines are more than one noun's {FILE_LINES}"));
    }
    for (function, line, length) in long_functions(code) {
        findings.push(format!("{name}:{line}: `{function}` has {length} lines, more than {FUNCTION_LINES}"));
    }
    for unfinished in ["todo!(", "unimplemented!(", "dbg!("] {
        let own_words = name.contains("/tidy");
        if code.contains(unfinished) && !own_words {
            findings.push(format!("{name}: `{unfinished}` is left open"));
        }
    }
    let island = text.contains("expect(unsafe_code") || text.contains("allow(unsafe_code");
    if island && !name.contains("/tidy") && !islands.contains(name) {
        findings.push(format!("{name}: an island of unsafe code that {ISLANDS} does not name"));
    }
    if name.ends_with("engine/src/types/switches.rs") {
        switches(name, text, findings);
    }
}

/// Checks that C files name their licence: Linux's for code in Linux, and the engine's for its C interface. Text that
/// is appended to a file of Linux has that file's licence.
fn licence(name: &str, text: &str, findings: &mut Vec<String>) {
    let (where_to, wanted) = if name.starts_with("crates/capi/") {
        ("is for programs in C", "GPL-2.0-or-later")
    } else {
        ("goes into Linux", "GPL-2.0-only")
    };
    let said = format!("SPDX-License-Identifier: {wanted}");
    let is_whole = !name.contains("/append/");
    if is_whole && !text.lines().next().is_some_and(|first| first.contains(&said)) {
        findings.push(format!("{name}: {where_to}, and its first line does not say {wanted}"));
    }
}

/// Returns name, first line and length of the functions over the limit.
fn long_functions(code: &str) -> Vec<(String, usize, usize)> {
    let mut long = Vec::new();
    let lines: Vec<&str> = code.lines().collect();
    for (number, line) in lines.iter().enumerate() {
        let trimmed = line.trim_start();
        let Some(at) = trimmed.find("fn ") else { continue };
        let before = &trimmed[..at];
        let is_declaration = before.split_whitespace().all(|word| {
            word.starts_with("pub")
                || ["const", "async", "unsafe", "extern", "\"C\"", "(crate)"].contains(&word)
        });
        if !is_declaration {
            continue;
        }
        let indent = line.len() - trimmed.len();
        let end = lines[number..].iter().position(|line| {
            line.len() - line.trim_start().len() == indent && line.trim_start().starts_with('}')
        });
        let length = end.map_or(0, |end| end + 1);
        if length > FUNCTION_LINES {
            let name = trimmed[at + 3..].split(['(', '<']).next().unwrap_or_default();
            long.push((name.to_owned(), number + 1, length));
        }
    }
    long
}

/// Checks that every switch names the source of its change.
fn switches(name: &str, text: &str, findings: &mut Vec<String>) {
    let mut documented = false;
    for line in text.lines().map(str::trim) {
        if line.starts_with("/// Source:") {
            documented = true;
        } else if let Some(field) = line.strip_prefix("pub ").and_then(|rest| rest.strip_suffix(": bool,")) {
            if !documented {
                findings.push(format!("{name}: switch `{field}` names no source"));
            }
            documented = false;
        }
    }
}

fn trace(file: &Path, name: &str, findings: &mut Vec<String>) -> io::Result<()> {
    let bytes = fs::metadata(file)?.len();
    if bytes > TRACE_BYTES {
        findings.push(format!("{name}: {bytes} bytes are more than {TRACE_BYTES}"));
    }
    if !file.with_extension("md").exists() {
        findings.push(format!("{name}: has no provenance beside it (same name, .md)"));
    }
    Ok(())
}
