//! The package as users install it: a wheel in a clean virtual environment, compared with results of the lab.

use std::collections::BTreeSet;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::thread;

use freehold_lab::analysis::analyze;
use freehold_lab::predict::{Facts, PredictError, Predicting, Recording, SettingChange, predict_change};
use freehold_lab::sweep::{Grid, Prepared, RunOptions, knob, run_trace, to_csv};
use freehold_lab::workload::{self, Plan};
use freehold_lab::{Columns, CompareOptions, LabError, Loaded, Options, Variant};
use freehold_trace::{ReadOptions, TraceError, TraceReader, WriteOptions};

/// The name of the test, for messages on missing programs.
const TEST: &str = "installed";

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().expect("the repository")
}

/// Runs a command from `folder`. Returns its output, or its output and exit code if it failed.
fn run(command: &mut Command, folder: &Path) -> Result<String, String> {
    let output =
        command.current_dir(folder).env_remove("PYTHONPATH").output().map_err(|error| error.to_string())?;
    let [out, err] = [output.stdout, output.stderr].map(|bytes| String::from_utf8_lossy(&bytes).into_owned());
    if output.status.success() {
        Ok(out)
    } else {
        Err(format!("{command:?}: {}\n{out}\n{err}", output.status))
    }
}

/// A virtual environment of Python.
struct Environment(PathBuf);

impl Environment {
    fn new(path: PathBuf) -> Result<Self, String> {
        run(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&path), Path::new("/"))?;
        Ok(Self(path))
    }

    fn program(&self, name: &str) -> Command {
        Command::new(self.0.join("bin").join(name))
    }

    fn install(&self, what: &[&str]) -> Result<(), String> {
        // Most files are never imported, and Python compiles the others on import.
        let quiet = ["install", "--quiet", "--disable-pip-version-check", "--no-compile"];
        run(self.program("pip").args(quiet).args(what), Path::new("/")).map(drop)
    }
}

/// Returns an environment with maturin, which is kept between runs; `None` if it cannot be installed.
fn tools(target: &Path) -> Option<Environment> {
    let path = target.join("python-tools");
    let made = || {
        if path.join("bin/maturin").exists() {
            return Ok(());
        }
        let tools = Path::new(env!("CARGO_MANIFEST_DIR")).join("tools.txt");
        Environment::new(path.clone())?.install(&["--requirement", tools.to_str().expect("a path")])
    };
    let had = freehold_needs::has_program("python3", TEST) && freehold_needs::can(TEST, made);
    had.then(|| Environment(path.clone()))
}

/// The feature that makes the dependencies of the module equal to those of `cargo test --workspace`.
const SHARED: &str = "as-in-workspace";

/// Builds the wheel into a folder and returns its path.
fn wheel(tools: &Environment, folder: &Path) -> PathBuf {
    let manifest = repository().join("python/Cargo.toml");
    let mut build = tools.program("maturin");
    build
        .args(["build", "--quiet", "--profile", "dev", "--features", SHARED, "--manifest-path"])
        .arg(manifest)
        .arg("--out")
        .arg(folder);
    run(&mut build, &repository()).expect("a wheel");
    let mut files = fs::read_dir(folder).expect("a folder").map(|entry| entry.expect("an entry").path());
    files.next().expect("a wheel")
}

/// Returns packages with their features, one line each, as Cargo resolves them for `which`.
fn resolved(which: &[&str]) -> BTreeSet<String> {
    let mut tree = Command::new(env!("CARGO"));
    tree.args(["tree", "--quiet", "--prefix", "none", "--format", "{p} {f}"]).args(which);
    run(&mut tree, &repository()).expect("a tree").lines().map(str::to_owned).collect()
}

#[test]
fn only_the_module_is_compiled_for_the_wheel() {
    let packages =
        resolved(&["--package", "freehold-python", "--edges", "normal,build", "--features", SHARED]);
    let built = resolved(&["--workspace"]);
    let anew: Vec<_> = packages.difference(&built).filter(|line| !line.ends_with(SHARED)).collect();
    assert!(packages.len() > 50 && anew.is_empty(), "{SHARED} lacks features of {anew:?}");
}

#[test]
fn the_wheel_works_alone_and_passes_the_package_tests() {
    let scratch = tempfile::tempdir().expect("a folder");
    let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let Some(tools) = tools(target) else { return };
    let needs = Path::new(env!("CARGO_MANIFEST_DIR")).join("live/needs.txt");
    let full = Environment::new(scratch.path().join("full")).expect("an environment");
    // The requirements of the tests are downloaded while the wheel is compiled.
    let (wheel, needed) = thread::scope(|threads| {
        let needed = threads.spawn(|| full.install(&["--requirement", needs.to_str().expect("a path")]));
        let wheel = wheel(&tools, &scratch.path().join("wheels"));
        (wheel, needed.join().expect("no panic"))
    });
    let name = wheel.file_name().and_then(|name| name.to_str()).expect("a name");
    assert!(name.starts_with("freehold-") && name.contains("-cp39-abi3-"), "{name}");
    let clean = Environment::new(scratch.path().join("clean")).expect("an environment");
    clean.install(&[wheel.to_str().expect("a path")]).expect("the wheel is installed");
    // This environment has no other package.
    let alone = "import freehold; m = freehold.Memory(); m.alloc(); m.check(); print(freehold.__version__)";
    let said = run(clean.program("python").args(["-c", alone]), scratch.path()).expect("it works alone");
    assert_eq!(said.trim(), env!("CARGO_PKG_VERSION"));
    let shipped = "import importlib.metadata as m; print(*sorted(file.name for file in m.files('freehold')))";
    let shipped = run(clean.program("python").args(["-c", shipped]), scratch.path()).expect("its files");
    for file in ["LICENSE", "__init__.pyi", "py.typed", "freehold-sweep"] {
        assert!(shipped.split_whitespace().any(|name| name == file), "{file}: {shipped}");
    }

    if !freehold_needs::can("the package's own tests", || needed) {
        return;
    }
    full.install(&[wheel.to_str().expect("a path")]).expect("the wheel is installed beside them");
    let expected = scratch.path().join("expected");
    fs::create_dir(&expected).expect("a folder");
    write_small(&expected);
    write_expected(&expected);
    let tests = Path::new(env!("CARGO_MANIFEST_DIR")).join("live/package");
    let mut pytest = full.program("python");
    pytest.args(["-m", "pytest", "-q", "-p", "no:cacheprovider", "--rootdir"]).arg(&tests).arg(&tests);
    pytest.env("FREEHOLD_TRACES", repository().join("traces")).env("FREEHOLD_EXPECTED", &expected);
    pytest
        .env("FREEHOLD_NOTEBOOKS", repository().join("docs/notebooks"))
        .env_remove("PYTHONDONTWRITEBYTECODE");
    // No bytecode next to the tests of the repository, and none compiled twice.
    pytest.env("PYTHONPYCACHEPREFIX", scratch.path().join("bytecode"));
    let said = run(&mut pytest, scratch.path()).unwrap_or_else(|failed| panic!("{failed}"));
    println!("{}", said.lines().last().unwrap_or_default());
}

/// A trace of the repository, read by the lab.
struct Kept(PathBuf);

/// An error of reading a trace, which no trace of the repository causes.
#[derive(Debug)]
struct Failed(#[expect(dead_code, reason = "shown where a test fails")] String);

impl From<TraceError> for Failed {
    fn from(error: TraceError) -> Self {
        Self(error.to_string())
    }
}

impl From<PredictError> for Failed {
    fn from(error: PredictError) -> Self {
        Self(error.to_string())
    }
}

impl From<LabError> for Failed {
    fn from(error: LabError) -> Self {
        Self(error.to_string())
    }
}

impl Kept {
    fn new(name: &str) -> Self {
        Self(repository().join("traces").join(name))
    }

    fn name(&self) -> String {
        self.0.display().to_string()
    }

    fn open(&self) -> Result<TraceReader<fs::File>, Failed> {
        let file = fs::File::open(&self.0).expect("a trace");
        Ok(TraceReader::open(file, ReadOptions::new(self.name()))?)
    }

    fn loaded(&self) -> Loaded {
        Loaded::read(&self.name(), || self.open(), |_| ()).expect("a trace")
    }
}

impl Recording for Kept {
    type Error = Failed;

    fn facts(&self) -> Result<Facts, Failed> {
        let reader = self.open()?;
        Ok(Facts::new(self.name(), reader.origin(), reader.start()))
    }

    fn whole(&self) -> Result<std::sync::Arc<Loaded>, Failed> {
        Ok(self.loaded().into())
    }

    fn failed(&self, error: LabError) -> Failed {
        error.into()
    }
}

/// Writes small generated traces, for tests with many replays.
fn write_small(folder: &Path) {
    for seed in 1..=3 {
        let plan = Plan { seed, pages: 1 << 15, cpus: 2, events: Some(20_000), ..Plan::default() };
        let file = fs::File::create(folder.join(format!("small-{seed}.arrows"))).expect("room");
        workload::write(&plan, file, WriteOptions::new("small")).expect("a trace");
    }
}

/// Writes results of the lab, which Python must reproduce.
fn write_expected(folder: &Path) {
    let keep = |name: &str, text: &str| fs::write(folder.join(name), text).expect("room");
    let write = |name: &str, columns: &Columns| keep(name, &columns.to_csv());
    let set = |texts: &[(&str, &str)]| {
        let set = texts.iter().map(|(name, value)| {
            let knob = knob(name).expect("a setting");
            (knob, knob.value(value).expect("a value"))
        });
        set.collect::<Vec<_>>()
    };
    let trace = Kept::new("c-build.arrows");
    let loaded = trace.loaded();
    let lab = loaded.lab().expect("a lab");
    let once = Options { runs: 1, ..Options::default() };
    let mut in_short = CompareOptions::in_short(2);
    in_short.replay.detail = once.detail;
    write("compare.csv", &lab.compare(in_short).expect("a comparison").columns());
    let variants =
        ["linux-6.1", "linux-6.12"].map(|era| Variant::new(freehold::Era::from_name(era).expect("an era")));
    let variants = [variants[0].clone(), variants[1].clone().without(freehold::Switch::Hygiene)];
    write("variants.csv", &lab.measured(&variants, once, 2).expect("replays").columns());
    let settings = set(&[("era", "linux-6.12"), ("remembered-mode", "off"), ("watermark_boost_factor", "0")]);
    let (turned, variant) = lab.turned(&settings).expect("settings");
    write("replay.csv", &turned.measured(&[variant], once, 1).expect("a replay").columns());
    let analysis = analyze(&trace.name(), || trace.open(), |_| (), Failed::from).expect("an analysis");
    write("analyze.csv", &analysis.columns());
    let recordings = ["file-churn.arrows", "file-churn-2.arrows"].map(Kept::new);
    let change = SettingChange::new(set(&[("watermark_boost_factor", "0")])).expect("a change");
    let mut how = Predicting::default();
    how.options.replays = 2;
    write("predict.csv", &predict_change(&change, &recordings, &[], &how).expect("a prediction").columns());
    let values = |name: &str, values: &[&str]| {
        let knob = knob(name).expect("a setting");
        (knob, knob.several(values.iter().copied()).expect("values"))
    };
    let varied = vec![values("counts", &["on", "off"]), values("watermark_boost_factor", &["0", "15000"])];
    let grid = Grid::new(varied, 2).expect("a grid");
    let rows = std::sync::Mutex::new(Vec::new());
    for (number, name) in ["database.arrows", "forks.arrows"].into_iter().enumerate() {
        let loaded = Kept::new(name).loaded();
        let lab = loaded.lab().expect("a lab");
        let runs: Vec<_> = grid.runs_of(number).collect();
        let options = RunOptions { replicates: 2, threads: None };
        let trust = lab.trust_columns().expect("a replay");
        run_trace(&grid, name, Ok(Prepared { lab: &lab, trust: &trust }), &runs, options, &|row| {
            rows.lock().expect("a lock").push(row);
            true
        });
    }
    let mut rows = rows.into_inner().expect("a lock");
    rows.sort_by_key(|row| row.run);
    keep("sweep.csv", &to_csv(&rows));
}
