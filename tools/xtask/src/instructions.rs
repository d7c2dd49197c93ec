//! `cargo xtask instructions`: counts the instructions of the engine's operations and compares them with
//! a kept table.
//!
//! Instruction counts are the same on every run, so a slowdown of 1 % is found in the commit that causes
//! it, on any machine under any load.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use clap::Args;

/// The kept table.
const KEPT: &str = "docs/evidence/instructions.md";

/// The largest permitted difference from the kept figure.
///
/// Units: percent.
const BOUND: f64 = 1.0;

/// The callgrind option that counts only the function `counted` of `operations` and what it calls.
const COUNTED: &str = "--toggle-collect=*operation*counted*";

/// Compare the instructions of the engine's operations with the kept table
#[derive(Args, Debug)]
pub struct InstructionsArgs {
    /// Write the kept table instead of comparing
    #[arg(long)]
    keep: bool,
}

/// Instructions of one operation, by operation, handle and era, as `operations` names them.
type Figures = BTreeMap<String, f64>;

/// Counts, then writes the table or compares the figures with it. Returns true if they are within the
/// bound.
///
/// # Errors
/// If counting fails, or the table was made with another compiler.
pub fn run(arguments: &InstructionsArgs, root: &Path) -> Result<bool, String> {
    let compiler = said(Command::new("rustc").arg("--version"))?.trim().to_owned();
    let path = root.join(KEPT);
    let kept = fs::read_to_string(&path).map_err(|error| format!("{KEPT} cannot be read: {error}"));
    if !arguments.keep && !kept.as_ref().is_ok_and(|text| text.contains(&compiler)) {
        kept?;
        return Err(format!("{KEPT} was counted with another compiler than {compiler}"));
    }
    let figures = count(root)?;
    if arguments.keep {
        let text = render(&figures, &compiler);
        fs::write(&path, text).map_err(|error| format!("{KEPT} cannot be written: {error}"))?;
        println!("{} figures written to {KEPT}", figures.len());
        return Ok(true);
    }
    let findings = compare(&parse(&kept?)?, &figures);
    for finding in &findings {
        println!("{finding}");
    }
    let within = findings.is_empty();
    if within {
        println!("{} operations, each within {BOUND} % of {KEPT}", figures.len());
    } else {
        println!(
            "If this is intended: run cargo xtask instructions --keep, and give the reason in the commit message."
        );
    }
    Ok(within)
}

fn count(root: &Path) -> Result<Figures, String> {
    let build = [
        "build",
        "--release",
        "--quiet",
        "--manifest-path",
        "tools/Cargo.toml",
        "--package",
        "freehold-bench",
        "--bin",
        "operations",
    ];
    said(Command::new("cargo").args(build).current_dir(root))?;
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root.join("target"), Into::into);
    let program = target.join("release/operations");
    let mut figures = Figures::new();
    for line in said(&mut Command::new(&program))?.lines() {
        let parsed = line.split_once(' ').and_then(|(name, times)| Some((name, times.parse::<f64>().ok()?)));
        let (name, times) = parsed.ok_or_else(|| format!("operations: unexpected line {line:?}"))?;
        figures.insert(name.to_owned(), callgrind(&program, name)? as f64 / times);
    }
    Ok(figures)
}

/// Returns the instructions that one run of the program counts.
fn callgrind(program: &Path, name: &str) -> Result<u64, String> {
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null", COUNTED]).arg(program).arg(name);
    let ran = command
        .output()
        .map_err(|error| format!("valgrind cannot be started ({error}); install it (Debian: valgrind)"))?;
    let text = String::from_utf8_lossy(&ran.stderr);
    let counted = text.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok());
    match counted {
        Some(counted) if counted > 0 && ran.status.success() => Ok(counted),
        _ => {
            Err(format!("callgrind reports no count for {name}: {}", text.lines().last().unwrap_or_default()))
        }
    }
}

/// Runs a command and returns its output.
fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let ran = command.output().map_err(|error| format!("{program} cannot be started: {error}"))?;
    if !ran.status.success() {
        return Err(format!("{program} failed: {}", String::from_utf8_lossy(&ran.stderr)));
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

/// Returns a line for each figure whose difference from the kept one exceeds the bound.
fn compare(kept: &Figures, counted: &Figures) -> Vec<String> {
    let mut findings = Vec::new();
    for (name, &now) in counted {
        let Some(&before) = kept.get(name) else {
            findings.push(format!("{name}: not in {KEPT}"));
            continue;
        };
        let percent = (now / before - 1.0) * 100.0;
        if percent.abs() > BOUND {
            let word = if percent > 0.0 { "more" } else { "fewer" };
            findings.push(format!(
                "{name}: {before:.1} instructions kept, {now:.1} counted, {percent:+.1} % ({word})"
            ));
        }
    }
    let gone = kept.keys().filter(|name| !counted.contains_key(*name));
    findings.extend(gone.map(|name| format!("{name}: in {KEPT}, but no longer counted")));
    findings
}

/// Splits the name of a figure into operation, handle and era.
fn names(name: &str) -> [&str; 3] {
    let mut parts = name.splitn(3, ':');
    [(); 3].map(|()| parts.next().unwrap_or_default())
}

fn render(figures: &Figures, compiler: &str) -> String {
    let mut eras: Vec<&str> = Vec::new();
    let mut rows: BTreeMap<(&str, &str), BTreeMap<&str, f64>> = BTreeMap::new();
    for (name, &figure) in figures {
        let [operation, handle, era] = names(name);
        rows.entry((operation, handle)).or_default().insert(era, figure);
        if !eras.contains(&era) {
            eras.push(era);
        }
    }
    eras.sort_unstable();
    eras.sort_by_key(|era| *era == "freehold");
    let mut text = String::from(HEAD);
    // Writing to a `String` cannot fail.
    let _ = writeln!(text, "Counted with {compiler}.\n");
    let _ = writeln!(text, "| operation | handle | {} |", eras.join(" | "));
    let _ = writeln!(text, "|---|---|{}", "---:|".repeat(eras.len()));
    for ((operation, handle), by_era) in rows {
        let _ = write!(text, "| {operation} | {handle} |");
        for era in &eras {
            let _ = match by_era.get(era) {
                Some(figure) => write!(text, " {figure:.1} |"),
                None => write!(text, " – |"),
            };
        }
        text.push('\n');
    }
    text
}

/// Parses the output of [`render`].
fn parse(text: &str) -> Result<Figures, String> {
    let cells = |line: &str| -> Vec<String> {
        line.trim_matches('|').split('|').map(|cell| cell.trim().to_owned()).collect()
    };
    let lines = text.lines().skip_while(|line| !line.starts_with("| operation |"));
    let mut lines = lines.filter(|line| line.starts_with('|'));
    let head = lines.next().map(cells).ok_or_else(|| format!("{KEPT} has no table"))?;
    let mut figures = Figures::new();
    for row in lines.skip(1).map(cells) {
        for (era, cell) in head.iter().zip(&row).skip(2) {
            if cell == "–" {
                continue;
            }
            let figure = cell.parse().map_err(|_| format!("{KEPT}: {cell:?} is not a number"))?;
            figures.insert(format!("{}:{}:{era}", row[0], row[1]), figure);
        }
    }
    Ok(figures)
}

const HEAD: &str = "# Instructions an operation

This table has the number of x86-64 instructions of each operation of the engine. Callgrind counts 4096 operations (1024 for refill and
drain), and the figures are their means. They are the same on every run, so a slowdown of 1 % is visible on any machine.

`cargo xtask instructions` counts again and compares. A difference of more than 1 % fails the check. `cargo xtask instructions --keep`
rewrites the table; the commit message must then explain the difference. The program that runs the operations is
`tools/bench/src/bin/operations`.

| name | counted work |
|---|---|
| pair-0, pair-9 | allocate and free one page, or one block of order 9, through a per-CPU list |
| pair-0-hole, churn-fresh-hole | as pair-0 and churn-fresh, but all pages are behind a hole between the sections of the zone |
| pair-4-whole | allocate and free one block of order 4; the free list has such a block |
| pair-4-split | the same, but a block of order 10 is split and merges again |
| refill | allocate one of 1024 pages, with an empty per-CPU list at the start |
| drain | move one of 1024 pages from a per-CPU list to the free lists |
| refused-9 | fail a request of order 9: a fifth of the zone is free, but only as single pages |
| churn-fresh | allocate or free blocks of orders 0 to 3 and 9, in a zone that is 80 % full |
| churn-aged | the same, in a zone as for refused-9 |

| handle | locking |
|---|---|
| `locked` | each call takes the lock of the per-CPU lists |
| `owners-free-once` | the same, for callers that never free one block twice at the same time (`OwnersFreeOnce`) |
| `exclusive` | for such callers, too; the handle owns the lists of one CPU (`Exclusive`) |

";

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(pairs: &[(&str, f64)]) -> Figures {
        pairs.iter().map(|&(name, figure)| (name.to_owned(), figure)).collect()
    }

    #[test]
    fn table_round_trips() {
        let counted = figures(&[
            ("drain:locked:freehold", 153.4),
            ("drain:locked:linux-6.1", 45.0),
            ("pair:once:freehold", 1.0),
        ]);
        let text = render(&counted, "rustc 1.0");
        assert_eq!(parse(&text), Ok(counted));
        assert!(
            text.contains("| linux-6.1 | freehold |") && text.contains("Counted with rustc 1.0."),
            "{text}"
        );
    }

    #[test]
    fn changes_beyond_the_bound_are_found_in_both_directions() {
        let kept = figures(&[("a:b:c", 100.0), ("a:b:d", 100.0), ("a:b:e", 100.0), ("gone:b:e", 1.0)]);
        let counted = figures(&[("a:b:c", 101.1), ("a:b:d", 98.9), ("a:b:e", 100.9), ("new:b:e", 1.0)]);
        let findings = compare(&kept, &counted).join("\n");
        for expected in
            ["a:b:c: 100.0 instructions kept, 101.1 counted, +1.1 %", "a:b:d", "new:b:e", "gone:b:e"]
        {
            assert!(findings.contains(expected), "{expected} in:\n{findings}");
        }
        assert!(!findings.contains("a:b:e: 100"), "{findings}");
    }
}
