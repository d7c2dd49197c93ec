//! The page that replays traces: the engine and the lab as WebAssembly, a sample trace and the scripts, in one file.

use std::env;
use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use freehold_measure::{PAGE_CELLS, PAGE_CHART, PAGE_STYLE, PAGE_WORDS, REPLAY_STYLE, filled};

use crate::dist::libc::mapped;

const TARGET: &str = "wasm32-unknown-unknown";

/// The trace in the page: a recording of a small machine with every kind of fallback.
const SAMPLE: &str = "holes-arm64.arrows";

const HTML: &str = include_str!("../../../../crates/web/page/page.html");
const CSS: &str = include_str!("../../../../crates/web/page/page.css");

/// The script that runs the engine, in the page and in its workers.
const ENGINE: &str = include_str!("../../../../crates/web/page/engine.js");
const WORKER: &str = include_str!("../../../../crates/web/page/worker.js");

/// The scripts; each needs only those before it.
const JS: [&str; 10] = [
    PAGE_WORDS,
    PAGE_CHART,
    PAGE_CELLS,
    ENGINE,
    include_str!("../../../../crates/web/page/carried.js"),
    include_str!("../../../../crates/web/page/table.js"),
    include_str!("../../../../crates/web/page/side.js"),
    include_str!("../../../../crates/web/page/replay.js"),
    include_str!("../../../../crates/web/page/sandbox.js"),
    include_str!("../../../../crates/web/page/page.js"),
];

/// Returns why the page cannot be built on this machine; `None` if it can.
pub fn missing() -> Option<String> {
    for (program, what) in [("clang", "compiles zstd for WebAssembly"), ("gzip", "packs the engine")] {
        let started = Command::new(program).arg("--version").stdout(Stdio::null()).status();
        if let Err(error) = started {
            return Some(format!("{program}, which {what}, cannot be started: {error}"));
        }
    }
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let output = Command::new(rustc).args(["--print", "target-libdir", "--target", TARGET]).output();
    let folder = output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned());
    if folder.is_ok_and(|folder| Path::new(&folder).is_dir()) {
        return None;
    }
    Some(format!("no target {TARGET}: rustup target add {TARGET}"))
}

/// Builds the page in a folder and writes it to a file. Returns its size.
///
/// Units: bytes.
///
/// # Errors
/// If the engine does not compile, or a file cannot be read or written.
pub fn write(root: &Path, build: &Path, file: &Path) -> Result<u64, String> {
    let engine = engine(root, build)?;
    let sample = root.join("traces").join(SAMPLE);
    let sample =
        fs::read(&sample).map_err(|error| format!("{} cannot be read: {error}", sample.display()))?;
    let page = page(&packed(&engine)?, &sample);
    let folder = file.parent().unwrap_or(Path::new("."));
    let written = fs::create_dir_all(folder).and_then(|()| fs::write(file, &page));
    written.map_err(|error| format!("{} cannot be written: {error}", file.display()))?;
    Ok(page.len() as u64)
}

/// Returns the page.
fn page(engine: &[u8], sample: &[u8]) -> String {
    let style = [PAGE_STYLE, REPLAY_STYLE, CSS].concat();
    let program = format!("\"use strict\";\n(() => {{\n{}}})();\n", JS.concat());
    let parts = [
        ("style", style.as_str()),
        ("version", env!("CARGO_PKG_VERSION")),
        ("engine", &BASE64_STANDARD.encode(engine)),
        ("sample-name", SAMPLE),
        ("sample", &BASE64_STANDARD.encode(sample)),
        ("worker", WORKER),
        ("program", &program),
    ];
    filled(HTML, &parts)
}

/// Builds the engine and returns its bytes. Paths of this machine are not in them.
fn engine(root: &Path, build: &Path) -> Result<Vec<u8>, String> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--quiet", "--package", "freehold-web", "--profile", "site", "--target", TARGET]);
    cargo.arg("--target-dir").arg(build).current_dir(root);
    // The flags of the host's programs, such as those for coverage, do not apply to the page.
    cargo.env_remove("RUSTFLAGS").env_remove("CARGO_ENCODED_RUSTFLAGS");
    let flags = mapped(root)?.map(|(path, name)| format!("--remap-path-prefix={}={name}", path.display()));
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\u{1f}"));
    let built = cargo.status().map_err(|error| format!("cargo cannot be started: {error}"))?;
    if !built.success() {
        return Err(format!("the engine does not build for {TARGET}"));
    }
    let file = build.join(TARGET).join("site/freehold_web.wasm");
    fs::read(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))
}

/// Returns the bytes as gzip packs them, without name and time.
fn packed(bytes: &[u8]) -> Result<Vec<u8>, String> {
    let failed = |error| format!("gzip fails: {error}");
    let mut gzip = Command::new("gzip");
    let gzip = gzip.arg("-9nc").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
    let mut gzip = gzip.map_err(failed)?;
    let mut stdin = gzip.stdin.take().ok_or("gzip has no input")?;
    let bytes = bytes.to_vec();
    // gzip writes while it reads, so its output must be read at the same time: otherwise both wait on full pipes.
    let writer = std::thread::spawn(move || stdin.write_all(&bytes));
    let output = gzip.wait_with_output().map_err(failed)?;
    let written = writer.join().map_err(|_| "gzip fails".to_owned())?;
    written.map_err(failed)?;
    Ok(output.stdout)
}
