//! Tests the series on a machine in QEMU, under a mixed load.

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde_json::{Value, json};

use crate::kernel::scratch::Scratch;
use crate::series::boot::guest;
use crate::series::boot::ktap::Suite;
use crate::series::boot::qemu::QemuBoot;
use crate::series::boot::uml::Ran;
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::{Built, Workshop};
use crate::series::error::{SeriesError, SeriesResult};
use crate::series::measure::report::Table;

/// Additional seconds for a boot, which is slow for an emulated kernel with debugging.
const BOOT_SECONDS: u64 = 300;

/// The checks inside the kernel under load.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
pub enum Watch {
    /// Only the checks of the series
    Checks,
    /// Also lock dependencies, KASAN, and the memory management's assertions
    Debug,
    /// Also lock dependencies and KCSAN
    Kcsan,
}

impl Watch {
    /// Returns the fragments of the kernel's configuration.
    const fn config(self) -> &'static [&'static str] {
        match self {
            Self::Checks => &["qemu", "qemu-test"],
            Self::Debug => &["qemu", "qemu-test", "qemu-debug"],
            Self::Kcsan => &["qemu", "qemu-test", "qemu-kcsan"],
        }
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Checks => "checks",
            Self::Debug => "debug",
            Self::Kcsan => "kcsan",
        }
    }
}

/// The size of the load.
#[derive(Clone, Debug)]
pub struct LoadPlan {
    /// The machine.
    pub arch: Arch,
    /// The checks; each has a kernel of its own.
    pub watches: Vec<Watch>,
    /// Further fragments of the configuration: names in `kernel/config` without `.config`.
    pub with: Vec<String>,
    /// The suffix of the names of LLVM's programs; `None` builds with gcc.
    pub llvm: Option<String>,
    /// The least number of pages that are allocated and freed.
    pub operations: u64,
    /// The time limit of the load in seconds.
    pub seconds: u64,
    /// The kernel checks its lists after this many movements between them.
    pub check_every: u64,
    /// True if a kernel after each patch is also tested.
    pub steps: bool,
}

/// The numbers of the guest's report, and their titles in the table.
const NUMBERS: [(&str, &str); 20] = [
    ("operations", "pages allocated and freed"),
    ("movements", "movements between lists"),
    ("checks", "checks"),
    ("differences", "differences"),
    ("compactions", "compactions"),
    ("cma", "contiguous areas taken"),
    ("offlined", "memory blocks taken away"),
    ("offline_refused", "memory blocks that stayed"),
    ("reads", "readings of pagetypeinfo"),
    ("bad_reads", "of them unreadable"),
    ("huge", "huge pages on demand"),
    ("locked", "areas locked in memory"),
    ("lent", "areas lent to pipes"),
    ("groups", "memory cgroups come and gone"),
    ("spoiled", "areas that lost what was in them"),
    ("tidied", "pageblocks tidied"),
    ("tidy_moved", "pages moved for it"),
    ("starts", "times that tidying was turned on"),
    ("uncounted", "memory blocks that went uncounted"),
    ("seconds", "guest's seconds"),
];

/// The required parts of the load.
const PARTS: [&str; 8] = ["compactions", "cma", "offlined", "reads", "huge", "locked", "lent", "groups"];

/// The fragment of the configuration with real-time preemption.
const REAL_TIME: &str = "qemu-rt";

/// Loads each variant under each kind of checks, prints the table, and keeps the consoles. Returns the
/// findings, a line each.
///
/// # Errors
/// If a kernel cannot be built or does not start.
pub fn run(
    workshop: &Workshop,
    root: &Path,
    variants: &[Variant],
    plan: &LoadPlan,
) -> SeriesResult<Vec<String>> {
    let scratch = Scratch::new()?;
    let initramfs = guest::initramfs(root, scratch.path(), plan.arch)?;
    let folder = root.join("target/series").join(workshop.version().name());
    fs::create_dir_all(&folder).map_err(SeriesError::file(&folder))?;
    let (mut findings, mut columns) = (Vec::new(), Vec::new());
    for &watch in &plan.watches {
        for &variant in variants {
            let kernel = workshop.kernel(&plan.recipe(variant, watch))?;
            let name = plan.name(variant, watch);
            eprintln!("Linux {} {name}: loaded in QEMU", workshop.version());
            let ran = boot(&kernel, &initramfs, plan, &variant.parameter(plan.check_every))?;
            let wrong = judge(&ran, variant, plan);
            println!("{}", keep(&folder, &name, &ran, &wrong)?.display());
            findings.extend(wrong.iter().map(|line| format!("Linux {} {name}: {line}", workshop.version())));
            columns.push((name, ran));
        }
    }
    let patches = if plan.steps { workshop.series().posted() } else { &[] };
    for (number, patch) in patches.iter().enumerate() {
        let recipe = plan.recipe(Variant::Derived, Watch::Checks).after(number + 1);
        let name = format!("after {}", patch.name);
        eprintln!("Linux {} {name}: loaded in QEMU", workshop.version());
        // Without the patches of the harness the kernel does not have the parameter.
        let ran = boot(&workshop.kernel(&recipe)?, &initramfs, plan, "")?;
        let wrong = ran.findings().into_iter().chain(lines(&ran, "text", "wrong"));
        findings.extend(wrong.map(|line| format!("Linux {} {name}: {line}", workshop.version())));
        columns.push((name, ran));
    }
    let title = format!("Linux {}: a mixed load on two CPUs in QEMU", workshop.version());
    println!("{}", table(title, &columns).text());
    Ok(findings)
}

impl LoadPlan {
    fn recipe(&self, variant: Variant, watch: Watch) -> Recipe {
        let config: Vec<_> =
            watch.config().iter().copied().chain(self.with.iter().map(String::as_str)).collect();
        Recipe::new(self.arch, &config, variant).with_llvm(self.llvm.clone())
    }

    /// Returns the name of a load. Loads of x86-64 do not name their machine.
    fn name(&self, variant: Variant, watch: Watch) -> String {
        let mut parts = Vec::new();
        if self.arch != Arch::X86_64 {
            parts.push(self.arch.name().to_owned());
        }
        parts.extend([variant.name().to_owned(), watch.name().to_owned()]);
        parts.extend(self.with.iter().cloned());
        parts.extend(self.llvm.iter().map(|suffix| format!("llvm{suffix}")));
        parts.join("-")
    }

    /// Returns true if a kernel of this plan can have that part of the load.
    fn can_have(&self, part: &str) -> bool {
        match part {
            "offlined" => self.arch != Arch::I386,
            "huge" => self.arch != Arch::I386 && !self.with.iter().any(|name| name == REAL_TIME),
            _ => true,
        }
    }
}

fn boot(kernel: &Built, initramfs: &Path, plan: &LoadPlan, parameters: &str) -> SeriesResult<Ran> {
    let order = format!("load,operations={},seconds={}", plan.operations, plan.seconds);
    let (order, seconds) = (order.as_str(), plan.seconds + BOOT_SECONDS);
    QemuBoot { kernel, initramfs, order, parameters, is_counting: false, seconds }.boot()
}

/// Returns the guest's report of its load.
fn report(ran: &Ran) -> &Value {
    ran.console.said.iter().find_map(|object| object.get("load")).unwrap_or(&Value::Null)
}

/// Returns the findings, a line each.
fn judge(ran: &Ran, variant: Variant, plan: &LoadPlan) -> Vec<String> {
    let mut findings = ran.findings();
    let suite = variant.suite().and_then(|name| Suite::read(&ran.text, name));
    findings.extend(suite.as_ref().map(Suite::findings).unwrap_or_default());
    if let (None, Some(name)) = (&suite, variant.suite()) {
        findings.push(format!("KUnit: the suite {name} did not run"));
    }
    let report = report(ran);
    if report.is_null() {
        findings.push("the guest did not report its load".to_owned());
        return findings;
    }
    let number = |name: &str| report[name].as_u64().unwrap_or_default();
    for (name, what) in [
        ("differences", "differences between counts and lists"),
        ("bad_reads", "texts of /proc/pagetypeinfo that are not what they should be"),
        ("spoiled", "areas or groups whose pages lost what was in them"),
        ("failed", "parts of the load that ended too early"),
    ] {
        if number(name) > 0 {
            findings.push(format!("{} {what}", number(name)));
        }
    }
    let tidying: &[&str] =
        if variant == Variant::Patched { &["tidied", "tidy_moved", "starts", "uncounted"] } else { &[] };
    for name in PARTS.iter().filter(|part| plan.can_have(part)).chain(tidying) {
        if number(name) == 0 {
            findings.push(format!("the load had no {name}"));
        }
    }
    let is_checked = number("checks") > 0 && (number("movements") > 0 || !variant.has_counts());
    if variant.has_series() && !is_checked {
        findings.push("nothing was checked".to_owned());
    }
    if number("operations") < plan.operations {
        let (done, wanted) = (number("operations"), plan.operations);
        findings.push(format!("{done} of {wanted} pages in {} s: give it more --seconds", plan.seconds));
    }
    findings.extend(lines(ran, "difference", "line").chain(lines(ran, "text", "wrong")));
    findings
}

/// Returns the texts in a field of the guest's objects.
fn lines<'a>(ran: &'a Ran, test: &'a str, field: &'a str) -> impl Iterator<Item = String> + 'a {
    let objects = ran.console.said.iter().filter(move |object| object["test"] == test);
    objects.filter_map(move |object| Some(object[field].as_str()?.to_owned()))
}

/// Keeps a console and its findings. Returns the path.
fn keep(folder: &Path, name: &str, ran: &Ran, findings: &[String]) -> SeriesResult<PathBuf> {
    let console = folder.join(format!("load-{name}.log"));
    fs::write(&console, &ran.text).map_err(SeriesError::file(&console))?;
    let place = folder.join(format!("load-{name}.json"));
    let took = ran.took.as_secs_f64();
    let all = json!({"said": ran.console.said, "findings": findings, "seconds": took});
    fs::write(&place, format!("{all:#}\n")).map_err(SeriesError::file(&place))?;
    Ok(console)
}

fn table(title: String, columns: &[(String, Ran)]) -> Table {
    let mut rows: Vec<Vec<String>> = NUMBERS
        .iter()
        .map(|(name, words)| {
            let cells = columns.iter().map(|(_, ran)| report(ran)[*name].to_string());
            std::iter::once((*words).to_owned()).chain(cells).collect()
        })
        .collect();
    let mut row = |words: &str, cell: fn(&Ran) -> String| {
        rows.push(
            std::iter::once(words.to_owned()).chain(columns.iter().map(|(_, ran)| cell(ran))).collect(),
        );
    };
    row("KUnit tests passed", |ran| {
        let names = Variant::ALL.into_iter().filter_map(Variant::suite);
        let suite = names.into_iter().find_map(|name| Suite::read(&ran.text, name));
        suite.map_or_else(|| "–".to_owned(), |suite| suite.passed.len().to_string())
    });
    row("alarms in the log", |ran| ran.console.alarms.len().to_string());
    row("seconds in all", |ran| format!("{:.0}", ran.took.as_secs_f64()));
    let names = columns.iter().map(|(name, _)| name.clone());
    Table { title, columns: std::iter::once("what".to_owned()).chain(names).collect(), rows }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::series::boot::console::Console;

    const GOOD: &str = "Linux version 7.3\nfreehold: {\"load\":{\"operations\":100,\"movements\":50,\"checks\":3,\
        \"differences\":0,\"compactions\":1,\"cma\":2,\"offlined\":1,\"reads\":9,\"bad_reads\":0,\"huge\":5,\"locked\":6,\"lent\":7,\
        \"groups\":8,\"spoiled\":0,\"tidied\":3,\"tidy_moved\":30,\"starts\":2,\"uncounted\":1,\"failed\":0}}\n\
        freehold: {\"done\":true}\n";

    fn plan(arch: Arch, with: &[&str]) -> LoadPlan {
        let with = with.iter().map(|name| (*name).to_owned()).collect();
        LoadPlan {
            arch,
            watches: vec![Watch::Checks],
            with,
            llvm: None,
            operations: 100,
            seconds: 9,
            check_every: 10,
            steps: false,
        }
    }

    #[test]
    fn loads_on_different_machines_have_different_names() {
        let name = |arch, with: &[&str], watch| plan(arch, with).name(Variant::Derived, watch);
        assert_eq!(name(Arch::X86_64, &[], Watch::Kcsan), "derived-kcsan");
        assert_eq!(name(Arch::Arm64, &[], Watch::Checks), "arm64-derived-checks");
        assert_eq!(name(Arch::X86_64, &["qemu-rt"], Watch::Checks), "derived-checks-qemu-rt");
        let clang = LoadPlan { llvm: Some("-19".to_owned()), ..plan(Arch::X86_64, &[]) };
        assert_eq!(clang.name(Variant::Derived, Watch::Checks), "derived-checks-llvm-19");
    }

    #[test]
    fn missing_part_is_found_if_the_kernel_supports_it() {
        let none = GOOD.replace("\"offlined\":1", "\"offlined\":0").replace("\"huge\":5", "\"huge\":0");
        let of = |plan: &LoadPlan| findings_of(&none, Variant::Vanilla, plan);
        assert_eq!(of(&plan(Arch::X86_64, &[])), ["the load had no offlined", "the load had no huge"]);
        assert_eq!(of(&plan(Arch::X86_64, &["qemu-rt"])), ["the load had no offlined"]);
        assert!(of(&plan(Arch::I386, &[])).is_empty());
    }

    fn findings(text: &str, variant: Variant) -> Vec<String> {
        findings_of(text, variant, &plan(Arch::X86_64, &[]))
    }

    fn findings_of(text: &str, variant: Variant, plan: &LoadPlan) -> Vec<String> {
        let console = Console::read(text);
        let ran = Ran { console, text: text.to_owned(), is_late: false, took: Duration::from_secs(1) };
        judge(&ran, variant, plan)
    }

    #[test]
    fn a_good_load_has_no_findings() {
        assert!(findings(GOOD, Variant::Vanilla).is_empty());
        assert_eq!(findings(GOOD, Variant::Derived), ["KUnit: the suite free_counts did not run"]);
        assert_eq!(findings(GOOD, Variant::Patched), ["KUnit: the suite pageblock_tidying did not run"]);
    }

    #[test]
    fn load_without_tidying_is_found() {
        let idle = GOOD.replace("\"tidied\":3", "\"tidied\":0").replace("\"spoiled\":0", "\"spoiled\":2");
        let found = findings(&idle, Variant::Patched);
        assert_eq!(
            found[1..],
            ["2 areas or groups whose pages lost what was in them", "the load had no tidied"]
        );
        assert_eq!(findings(&idle, Variant::Vanilla), found[1..2]);
    }

    #[test]
    fn incomplete_or_failed_loads_are_found() {
        let other = GOOD.replace("\"differences\":0", "\"differences\":4").replace("\"cma\":2", "\"cma\":0");
        assert_eq!(
            findings(&other, Variant::Vanilla),
            ["4 differences between counts and lists", "the load had no cma"]
        );
        let slow = GOOD.replace("\"operations\":100", "\"operations\":99");
        assert_eq!(findings(&slow, Variant::Vanilla), ["99 of 100 pages in 9 s: give it more --seconds"]);
        let silent = findings("Linux version 7.3\nfreehold: {\"done\":true}", Variant::Vanilla);
        assert_eq!(silent, ["the guest did not report its load"]);
        let warned = findings(&format!("WARNING: at mm/x.c\n{GOOD}"), Variant::Vanilla);
        assert_eq!(warned, ["line 1: WARNING: at mm/x.c"]);
    }
}
