//! Finds the branches of the engine's allocation and free paths that no kept transcript reaches.
//!
//! The golden test of `crates/oracle` is compiled with rustc's instrumentation and run. Every place that
//! it does not reach needs a reason in `docs/linux-semantics.md`; a place without one is a finding.

use std::collections::BTreeMap;
use std::env;
use std::fmt::Write as _;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;

/// The engine's sources, relative to the repository.
const SOURCES: &str = "crates/engine/src/";

/// The document with the reasons, relative to the repository.
const REASONS: &str = "docs/linux-semantics.md";

/// The test that compares the kept transcripts with the eras of their kernels. The other tests of its
/// file also play eras that must differ.
const TEST: &str = "the_engine_answers_as_the_kernels_did";

/// rustc counts branches only with an unstable option.
const FLAGS: &str = "-C instrument-coverage -Z coverage-options=branch";

/// Files that are not on these paths, with the reason.
const OTHER_FILES: [(&str, &str); 35] = [
    ("compact/free_scanner.rs", "compaction goes through an embedder"),
    ("compact/kcompactd.rs", "compaction goes through an embedder"),
    ("compact/migrate_scanner.rs", "compaction goes through an embedder"),
    ("compact/policy.rs", "compaction goes through an embedder"),
    ("compact/relocate.rs", "for embedders"),
    ("compact/run.rs", "compaction goes through an embedder"),
    ("compact/tidying.rs", "not in Linux"),
    ("memory/node.rs", "for an embedder's daemons"),
    ("memory/tunables.rs", "settings of reclaim and compaction"),
    ("memory/vm_events.rs", "statistics"),
    ("observe/check.rs", "verifies, changes nothing"),
    ("observe/inspect.rs", "for observers"),
    ("observe/render.rs", "texts"),
    ("ranges/evacuation.rs", "pages move through an embedder"),
    ("ranges/offlining.rs", "no kernel of the oracle unplugs memory"),
    ("ranges/onlining.rs", "setup"),
    ("ranges/restore.rs", "setup"),
    ("reclaim/kswapd.rs", "reclaim goes through an embedder"),
    ("reclaim/shrinker.rs", "for embedders"),
    ("request/direct_reclaim.rs", "no script may wait"),
    ("table/metadata.rs", "setup"),
    ("table/pageblock_use.rs", "for observers"),
    ("types/error.rs", "texts of errors"),
    ("types/gfp.rs", "names of flags"),
    ("types/migratetype.rs", "names of types"),
    ("types/stats.rs", "statistics"),
    ("types/switches.rs", "names of eras"),
    ("types/tracepoints.rs", "for observers"),
    ("types/units.rs", "vocabulary"),
    ("types/zone_type.rs", "names of zone types"),
    ("zone/compaction_state.rs", "compaction goes through an embedder"),
    ("zone/counts.rs", "counts per migratetype are not in Linux"),
    ("zone/pageblocks.rs", "for observers"),
    ("zone/placement.rs", "not in Linux"),
    ("zone/size.rs", "for observers and setup"),
];

/// Functions that are not on these paths although their file is, with the reason.
const OTHER_FUNCTIONS: [(&str, &[&str], &str); 17] = [
    (
        "memory/state.rs",
        &["validate", "zone_of_rank", "pageblocks", "required_bytes", "new", "zone_parts"],
        "setup",
    ),
    ("memory/state.rs", &["request_stats", "vm_events", "zone_stats"], "for observers"),
    ("memory/state.rs", &["tunables", "set_tunables"], "settings of reclaim and compaction"),
    ("memory/zonelist.rs", &["zones_of"], "for an embedder's daemons"),
    ("memory/request_counters.rs", &["added_to"], "statistics"),
    ("percpu/cpu_lists.rs", &["stats"], "statistics"),
    (
        "ranges/contiguous.rs",
        &["alloc_contig_range_with", "alloc_contig_pages", "may_become_free"],
        "pages move through an embedder",
    ),
    ("ranges/contiguous.rs", &["free_contig_range", "join_pages"], "no script frees a whole range"),
    ("reclaim/wake.rs", &["take_kswapd_wake", "wake_kswapd", "wake_daemons"], "for an embedder's kswapd"),
    ("request/alloc.rs", &["alloc_with"], "no script may wait"),
    ("request/free.rs", &["allocated_block"], "for observers"),
    (
        "table/pageblock.rs",
        &["is_skipped", "set_skip", "clear_skips", "count_captured"],
        "compaction goes through an embedder",
    ),
    ("zone/fallback.rs", &["has_claimable_block"], "compaction goes through an embedder"),
    ("zone/fallback.rs", &["claim_used"], "not in Linux"),
    ("zone/isolate.rs", &["of_one_type"], "errors of the caller, and what is not in Linux"),
    ("zone/state.rs", &["counts_consistent"], "counts per migratetype are not in Linux"),
    ("zone/state.rs", &["list_lengths", "reset_stats", "stats", "percpu_stats"], "for observers"),
];

/// Why the coverage cannot be measured.
#[derive(Debug, thiserror::Error)]
pub enum CoverageError {
    /// The LLVM tools of the toolchain are missing.
    #[error(
        "{path} is not there: reading the counters needs the LLVM tools of this very toolchain; \
         `rustup component add llvm-tools` brings them"
    )]
    NoTools {
        /// The path that is missing.
        path: PathBuf,
    },
    /// The test does not compile.
    #[error("the instrumented test cannot be built; cargo said\n{0}")]
    Build(String),
    /// A transcript differs from the engine, so that coverage says nothing.
    #[error("the kept transcripts do not pass, see `cargo test -p freehold-oracle`; the test said\n{0}")]
    Differs(String),
    /// A tool failed.
    #[error("`{program}` failed: {said}")]
    Tool {
        /// The name of the tool.
        program: String,
        /// The tool's output.
        said: String,
    },
    /// The output of cargo or a tool has an unknown format.
    #[error("{0} is not as expected")]
    Nonsense(&'static str),
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        #[source]
        error: io::Error,
    },
}

type Result<T> = std::result::Result<T, CoverageError>;

/// A piece of code: first line and column, last line and column.
type Span = (usize, usize, usize, usize);

/// How many times each region of a file's code ran, and each condition was true and false.
#[derive(Default)]
struct Counters {
    regions: BTreeMap<Span, u64>,
    conditions: BTreeMap<Span, (u64, u64)>,
}

/// A place that no transcript reaches.
struct Gap {
    file: String,
    function: String,
    first: usize,
    last: usize,
    code: String,
}

/// The regions of a file that were reached, all its regions, and the same for each function.
#[derive(Default)]
struct Sum {
    reached: usize,
    all: usize,
    functions: BTreeMap<(usize, String), (usize, usize)>,
}

/// Runs the kept transcripts with instrumentation, and prints what they reach and what they do not.
///
/// Returns true if every place that is not reached has its reason in `docs/linux-semantics.md`.
///
/// # Errors
/// See [`CoverageError`].
pub fn run(root: &Path) -> Result<bool> {
    let root = root.canonicalize().map_err(file_error(root))?;
    let folder = root.join("target/coverage");
    let exported = measure(&root, &folder)?;
    let counters = read_counters(&root, &exported)?;
    let mut gaps = Vec::new();
    let mut out = String::new();
    for path in sources(&root)? {
        let name = name_of(&root, &path);
        let text = fs::read_to_string(&path).map_err(file_error(&path))?;
        let none = Counters::default();
        let sum = examine(&name, &text, counters.get(&name).unwrap_or(&none), &mut gaps);
        let _ = writeln!(out, "{name}: {} of {} regions", sum.reached, sum.all);
        for ((line, function), (reached, all)) in sum.functions {
            if reached < all {
                let _ = writeln!(out, "    {function} (line {line}): {reached} of {all}");
            }
        }
    }
    print!("{out}");
    let reasons = root.join(REASONS);
    let reasons = fs::read_to_string(&reasons).map_err(file_error(&reasons))?;
    Ok(report(&gaps, &reasons))
}

fn file_error(path: &Path) -> impl FnOnce(io::Error) -> CoverageError {
    let path = path.to_owned();
    move |error| CoverageError::File { path, error }
}

/// Returns the files on these paths.
fn sources(root: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut folders = vec![root.join(SOURCES)];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(file_error(&folder))? {
            let path = entry.map_err(file_error(&folder))?.path();
            let name = name_of(root, &path);
            let is_list = ["lib.rs", "mod.rs"].into_iter().any(|list| path.ends_with(list));
            let is_source = path.extension().is_some_and(|extension| extension == "rs") && !is_list;
            if path.is_dir() {
                folders.push(path);
            } else if is_source && !OTHER_FILES.iter().any(|other| other.0 == name) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

/// Returns a file's path relative to [`SOURCES`], as the tables and `docs/linux-semantics.md` have it.
fn name_of(root: &Path, path: &Path) -> String {
    path.strip_prefix(root.join(SOURCES)).unwrap_or(path).display().to_string()
}

/// Builds and runs the test, and returns the export of `llvm-cov`.
fn measure(root: &Path, folder: &Path) -> Result<Value> {
    let (profdata, cov) = tools()?;
    let profiles = folder.join("profiles");
    if profiles.exists() {
        fs::remove_dir_all(&profiles).map_err(file_error(&profiles))?;
    }
    fs::create_dir_all(&profiles).map_err(file_error(&profiles))?;
    let test = build(root, folder, &profiles)?;
    let mut run = Command::new(&test);
    run.current_dir(root.join("crates/oracle")).env("LLVM_PROFILE_FILE", profiles.join("run.profraw"));
    let ran = output(run.args(["--exact", TEST]))?;
    let said = String::from_utf8_lossy(&ran.stdout);
    if !ran.status.success() {
        return Err(CoverageError::Differs(said.into_owned()));
    }
    if !said.contains("1 passed") {
        return Err(CoverageError::Nonsense("the golden test, which has no test of this name,"));
    }
    let merged = profiles.join("run.profdata");
    let raw = profiles.join("run.profraw");
    succeeds(Command::new(profdata).args(["merge", "-sparse", "-o"]).arg(&merged).arg(raw))?;
    let mut export = Command::new(cov);
    export.args(["export", "--format=text", "--instr-profile"]).arg(&merged).arg(&test);
    let exported = succeeds(export.arg(root.join(SOURCES)))?;
    serde_json::from_slice(&exported).map_err(|_| CoverageError::Nonsense("the export of llvm-cov"))
}

/// Returns `llvm-profdata` and `llvm-cov` of the toolchain; other versions do not know its format.
fn tools() -> Result<(PathBuf, PathBuf)> {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let said = succeeds(Command::new(rustc).args(["--print", "target-libdir"]))?;
    let libraries = PathBuf::from(String::from_utf8_lossy(&said).trim());
    let folder = libraries.with_file_name("bin");
    let tool = |name: &str| {
        let path = folder.join(name).with_extension(env::consts::EXE_EXTENSION);
        if path.exists() { Ok(path) } else { Err(CoverageError::NoTools { path }) }
    };
    Ok((tool("llvm-profdata")?, tool("llvm-cov")?))
}

/// Builds the golden test with instrumentation and returns its path.
fn build(root: &Path, folder: &Path, profiles: &Path) -> Result<PathBuf> {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .args(["test", "--package", "freehold-oracle", "--test", "golden", "--no-run"])
        .args(["--message-format", "json"])
        .current_dir(root)
        .env("CARGO_TARGET_DIR", folder)
        .env("RUSTFLAGS", FLAGS)
        .env("RUSTC_BOOTSTRAP", "1")
        .env_remove("CARGO_ENCODED_RUSTFLAGS")
        // Build scripts are instrumented too; without this they would write into the source
        // folders.
        .env("LLVM_PROFILE_FILE", profiles.join("build-%p-%m"));
    let built = output(&mut command)?;
    if !built.status.success() {
        return Err(CoverageError::Build(String::from_utf8_lossy(&built.stderr).into_owned()));
    }
    let messages = String::from_utf8_lossy(&built.stdout);
    let executable = messages.lines().rev().find_map(|line| {
        let message: Value = serde_json::from_str(line).ok()?;
        let named = message["target"]["name"] == "golden";
        message["executable"].as_str().filter(|_| named).map(PathBuf::from)
    });
    executable.ok_or(CoverageError::Nonsense("what cargo says about the golden test"))
}

fn output(command: &mut Command) -> Result<Output> {
    let program = command.get_program().to_string_lossy().into_owned();
    command.output().map_err(|error| CoverageError::Tool { program, said: error.to_string() })
}

fn succeeds(command: &mut Command) -> Result<Vec<u8>> {
    let ended = output(command)?;
    if ended.status.success() {
        return Ok(ended.stdout);
    }
    let program = command.get_program().to_string_lossy().into_owned();
    let said = String::from_utf8_lossy(&ended.stderr).trim().to_owned();
    Err(CoverageError::Tool { program, said })
}

/// Adds up the counters of all instances of each function, by file of the engine.
fn read_counters(root: &Path, exported: &Value) -> Result<BTreeMap<String, Counters>> {
    let nonsense = || CoverageError::Nonsense("the export of llvm-cov");
    let functions = exported["data"][0]["functions"].as_array().ok_or_else(nonsense)?;
    let mut counters: BTreeMap<String, Counters> = BTreeMap::new();
    for function in functions {
        let name_of = |file: usize| {
            let path = Path::new(function["filenames"][file].as_str()?);
            path.strip_prefix(root.join(SOURCES)).ok()?.to_str().map(str::to_owned)
        };
        let numbers = |list: &str| -> Vec<Vec<u64>> {
            let rows = function[list].as_array().into_iter().flatten();
            rows.map(|row| row.as_array().into_iter().flatten().filter_map(Value::as_u64).collect()).collect()
        };
        for row in numbers("regions") {
            let [first, column, last, end, count, file, _, kind] = row[..] else { return Err(nonsense()) };
            let span = (first as usize, column as usize, last as usize, end as usize);
            if let (Some(name), 0) = (name_of(file as usize), kind) {
                *counters.entry(name).or_default().regions.entry(span).or_default() += count;
            }
        }
        for row in numbers("branches") {
            let [first, column, last, end, yes, no, file, ..] = row[..] else { return Err(nonsense()) };
            let span = (first as usize, column as usize, last as usize, end as usize);
            if let Some(name) = name_of(file as usize) {
                let sum = counters.entry(name).or_default().conditions.entry(span).or_default();
                *sum = (sum.0 + yes, sum.1 + no);
            }
        }
    }
    Ok(counters)
}

/// Returns the functions of a file that have a body: first line and name.
fn functions(text: &str) -> Vec<(usize, String)> {
    let code = text.split("#[cfg(test)]").next().unwrap_or(text);
    let declaration = |(number, line): (usize, &str)| {
        let (before, after) = line.split_once("fn ")?;
        let words = ["pub", "pub(crate)", "pub(super)", "const", "unsafe", "async"];
        let declares = before.split_whitespace().all(|word| words.contains(&word));
        let name = after.split(['(', '<']).next().unwrap_or_default();
        (declares && !after.ends_with(';')).then(|| (number + 1, name.to_owned()))
    };
    code.lines().enumerate().filter_map(declaration).collect()
}

/// Adds the gaps of a file to `gaps`, and returns the sums of all its regions.
fn examine(file: &str, text: &str, counters: &Counters, gaps: &mut Vec<Gap>) -> Sum {
    let lines: Vec<&str> = text.lines().collect();
    let functions = functions(text);
    let around = |line: usize| functions.iter().rev().find(|function| function.0 <= line).cloned();
    let is_other =
        |function: &str| OTHER_FUNCTIONS.iter().any(|other| other.0 == file && other.1.contains(&function));
    let code = |&(first, column, last, end): &Span| {
        let line = lines.get(first - 1).copied().unwrap_or_default();
        let line = if first == last { line.get(..end - 1).unwrap_or(line) } else { line };
        line.get(column - 1..).unwrap_or_default().trim().to_owned()
    };
    let mut sum = Sum::default();
    let start = gaps.len();
    let mut open: Option<Gap> = None;
    for (span, &count) in &counters.regions {
        let Some((line, function)) = around(span.0).filter(|function| !is_other(&function.1)) else {
            continue;
        };
        // The error path of `?` is not counted, as the error arises elsewhere.
        if count == 0 && code(span) == "?" {
            continue;
        }
        let reached = usize::from(count > 0);
        let entry = sum.functions.entry((line, function.clone())).or_default();
        *entry = (entry.0 + reached, entry.1 + 1);
        (sum.reached, sum.all) = (sum.reached + reached, sum.all + 1);
        gaps.extend(open.take_if(|gap| count > 0 || gap.function != function));
        if count == 0 {
            let whole = lines.get(span.0 - 1).map(|line| line.trim().to_owned()).unwrap_or_default();
            let file = file.to_owned();
            let new = Gap { file, function, first: span.0, last: span.2, code: whole.clone() };
            let gap = open.get_or_insert(new);
            gap.last = gap.last.max(span.2);
            // The counter of a closing brace stands for the path around the block.
            if gap.code == "}" {
                gap.code = whole;
            }
        }
    }
    gaps.extend(open);
    for (span, &(yes, no)) in &counters.conditions {
        let Some((_, function)) = around(span.0).filter(|function| !is_other(&function.1)) else { continue };
        let told = gaps[start..].iter().any(|gap| gap.first <= span.2 + 1 && span.0 <= gap.last);
        if (yes == 0) != (no == 0) && !told {
            let code = format!("{} is never {}", code(span), yes == 0);
            gaps.push(Gap { file: file.to_owned(), function, first: span.0, last: span.2, code });
        }
    }
    for (line, function) in functions.iter().cloned() {
        let compiled = counters.regions.keys().any(|span| around(span.0).is_some_and(|at| at.0 == line));
        if !compiled && !is_other(&function) {
            let code = "nobody calls it".to_owned();
            gaps.push(Gap { file: file.to_owned(), function, first: line, last: line, code });
        }
    }
    sum
}

/// Prints the gaps, those without a reason last. Returns true if each gap has a reason and each reason a
/// gap.
fn report(gaps: &[Gap], reasons: &str) -> bool {
    let reasons: Vec<Vec<&str>> = reasons
        .lines()
        .filter(|line| line.starts_with("- `") && line[3..].starts_with(SOURCES))
        .map(|line| line.split('`').skip(1).step_by(2).collect())
        .collect();
    let explains = |reason: &[&str], gap: &Gap| {
        reason[0].strip_prefix(SOURCES) == Some(&gap.file)
            && reason.get(1).is_some_and(|function| *function == gap.function)
            && (reason.len() == 2 || reason[2..].iter().any(|code| gap.code.contains(code)))
    };
    let (known, open): (Vec<_>, Vec<_>) =
        gaps.iter().partition(|gap| reasons.iter().any(|reason| explains(reason, gap)));
    println!("not reached, {REASONS} says why: {}", known.len());
    println!("not reached, without a reason: {}", open.len());
    for Gap { file, function, first, last, code } in open {
        println!("    {SOURCES}{file}:{first}..{last} {function}: {code}");
    }
    let mut needed = true;
    for reason in reasons.iter().filter(|reason| !gaps.iter().any(|gap| explains(reason, gap))) {
        needed = false;
        println!("{REASONS} says why {} is not reached, but it is", reason.join(" "));
    }
    needed && gaps.len() == known.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gaps_are_runs_of_code_sides_of_conditions_and_functions_without_counters() {
        let text = "fn a(x: bool) {\n    if x {\n        b();\n    }\n}\n\nfn c() {}\n";
        let regions = [((1, 1, 1, 14), 2), ((2, 8, 2, 9), 2), ((3, 9, 3, 12), 0), ((4, 5, 4, 6), 2)];
        let mut counters = Counters { regions: regions.into(), ..Counters::default() };
        let mut gaps = Vec::new();
        let sum = examine("x.rs", text, &counters, &mut gaps);
        assert_eq!((sum.reached, sum.all), (3, 4));
        let told: Vec<_> =
            gaps.iter().map(|gap| (gap.first, gap.function.as_str(), gap.code.as_str())).collect();
        assert_eq!(told, [(3, "a", "b();"), (7, "c", "nobody calls it")]);
        counters.regions.insert((3, 9, 3, 12), 1);
        counters.conditions.insert((2, 8, 2, 9), (2, 0));
        gaps.clear();
        examine("x.rs", text, &counters, &mut gaps);
        assert_eq!(gaps[0].code, "x is never false");
    }

    #[test]
    fn every_gap_needs_a_reason_and_every_reason_a_gap() {
        let gap = |code: &str| Gap {
            file: "x.rs".to_owned(),
            function: "a".to_owned(),
            first: 3,
            last: 3,
            code: code.to_owned(),
        };
        let reason = "### Because\n\n- `crates/engine/src/x.rs` `a` `b()`\n";
        assert!(report(&[gap("b();")], reason));
        assert!(!report(&[gap("b();"), gap("d();")], reason));
        assert!(!report(&[], reason));
        assert!(report(&[gap("d();")], "- `crates/engine/src/x.rs` `a`"));
    }
}
