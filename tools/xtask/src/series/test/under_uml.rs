//! Tests the series under User-Mode Linux: unit tests, a mixed load, and checks of the counts.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::kernel::scratch::Scratch;
use crate::series::boot::guest;
use crate::series::boot::ktap::Suite;
use crate::series::boot::uml::{Ran, UmlBoot};
use crate::series::build::recipe::{Arch, Recipe};
use crate::series::build::variant::Variant;
use crate::series::build::workshop::{Built, Workshop};
use crate::series::error::SeriesResult;

const MEMORY: &str = "512M";
const SECONDS: u64 = 600;

/// The size of the load.
#[derive(Clone, Copy, Debug)]
pub struct Load {
    /// Operations of the mixed load, on all CPUs together.
    pub operations: u64,
    /// The kernel checks its lists after this many movements between them.
    pub check_every: u64,
}

/// Tests each variant and, if requested, a kernel after each patch. Returns the findings, a line each.
///
/// # Errors
/// If a kernel cannot be built or does not start.
pub fn run(
    workshop: &Workshop,
    root: &Path,
    variants: &[Variant],
    load: Load,
    steps: bool,
) -> SeriesResult<Vec<String>> {
    let scratch = Scratch::new()?;
    let test = Test { initramfs: guest::initramfs(root, scratch.path(), Arch::Um)?, load };
    let mut findings = Vec::new();
    for &variant in variants {
        let kernel = workshop.kernel(&Recipe::new(Arch::Um, &["uml", "uml-test"], variant))?;
        findings.extend(test.variant(&kernel)?);
    }
    let patches = if steps { workshop.series().posted() } else { &[] };
    for (number, patch) in patches.iter().enumerate() {
        let recipe = Recipe::new(Arch::Um, &["uml"], Variant::Derived).after(number + 1);
        let kernel = workshop.kernel(&recipe)?;
        findings.extend(test.step(&kernel, &patch.name)?);
    }
    Ok(findings)
}

/// What all boots have in common.
struct Test {
    initramfs: PathBuf,
    load: Load,
}

impl Test {
    fn boot(&self, kernel: &Built, order: &str, parameters: &[&str]) -> SeriesResult<Ran> {
        let (initramfs, memory, seconds) = (self.initramfs.as_path(), MEMORY, SECONDS);
        UmlBoot { kernel, initramfs, order, parameters, memory, seconds }.run()
    }

    /// Boots a kernel, and checks its `KUnit` suite and its counts under a mixed load.
    fn variant(&self, kernel: &Built) -> SeriesResult<Vec<String>> {
        let variant = kernel.recipe.variant;
        let booted = self.boot(kernel, "kunit", &[])?;
        let mut findings = booted.findings();
        let suite = variant.suite().and_then(|name| Suite::read(&booted.text, name));
        findings.extend(suite_findings(variant, suite.as_ref()));
        let order = format!("check,operations={}", self.load.operations);
        let loaded = self.boot(kernel, &order, &[&variant.parameter(self.load.check_every)])?;
        findings.extend(loaded.findings());
        findings.extend(said_findings(&loaded.console.said, variant));
        let name = format!("Linux {} {variant}", kernel.version);
        let tests = suite.map_or_else(
            || "no KUnit suite".to_owned(),
            |suite| format!("{} KUnit tests", suite.passed.len()),
        );
        println!(
            "{name}: booted; {tests}; {}, in {:.1} s",
            described(&loaded.console.said),
            (booted.took + loaded.took).as_secs_f64()
        );
        Ok(findings.into_iter().map(|finding| format!("{name}: {finding}")).collect())
    }

    /// Checks that a kernel with some of the patches boots and that the numbers of its text add up.
    fn step(&self, kernel: &Built, patch: &str) -> SeriesResult<Vec<String>> {
        let name = format!("Linux {} after {patch}", kernel.version);
        let operations = self.load.operations.min(200_000);
        let ran = self.boot(kernel, &format!("check,operations={operations}"), &[])?;
        let mut findings = ran.findings();
        findings.extend(text_findings(&ran.console.said));
        println!("{name}: booted, {}, in {:.1} s", described(&ran.console.said), ran.took.as_secs_f64());
        Ok(findings.into_iter().map(|finding| format!("{name}: {finding}")).collect())
    }
}

fn suite_findings(variant: Variant, suite: Option<&Suite>) -> Vec<String> {
    match (suite, variant.suite()) {
        (Some(suite), _) => suite.findings(),
        (None, Some(name)) => vec![format!("KUnit: the suite {name} did not run")],
        (None, None) => Vec::new(),
    }
}

/// Returns the objects of a test.
fn of<'a>(said: &'a [Value], test: &'a str) -> impl Iterator<Item = &'a Value> {
    said.iter().filter(move |object| object["test"] == test)
}

fn said_findings(said: &[Value], variant: Variant) -> Vec<String> {
    let mut findings = text_findings(said);
    for check in of(said, "check").filter(|check| check["present"] == true) {
        let number = |name: &str| check[name].as_u64().unwrap_or_default();
        if check["differences"] != 0 {
            findings.push(format!("{} differences between counts and lists", check["differences"]));
        }
        if number("checks") == 0 || (number("movements") == 0 && variant.has_counts()) {
            findings.push("nothing was checked".to_owned());
        }
    }
    let lines = of(said, "difference").filter_map(|object| object["line"].as_str());
    findings.extend(lines.map(str::to_owned));
    if variant.has_counts() && !of(said, "check").any(|check| check["present"] == true) {
        findings.push("there is no free_counts/check".to_owned());
    }
    findings
}

/// Returns what is wrong with the text of `/proc/pagetypeinfo`.
fn text_findings(said: &[Value]) -> Vec<String> {
    let mut findings = Vec::new();
    match of(said, "text").next() {
        None => findings.push("nothing was said of /proc/pagetypeinfo".to_owned()),
        Some(text) if text["parses"] != true => {
            findings.push(format!(
                "/proc/pagetypeinfo: {}",
                text["wrong"].as_str().unwrap_or("is not as it was")
            ));
        }
        Some(text) if text["agrees"] != true => {
            findings.push("/proc/pagetypeinfo does not add up to /proc/buddyinfo".to_owned());
        }
        Some(_) => {}
    }
    findings
}

/// Describes what a load did.
fn described(said: &[Value]) -> String {
    let sum = |test, name: &str| of(said, test).filter_map(|object| object[name].as_u64()).sum::<u64>();
    let load = format!(
        "{} operations, {} ranges taken by address",
        sum("load", "operations"),
        sum("load", "ranges")
    );
    match of(said, "check").filter(|check| check["present"] == true).last() {
        Some(check) => format!(
            "{load}; {} movements, {} checks, {} differences",
            check["movements"], check["checks"], check["differences"]
        ),
        None => load,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn good() -> Vec<Value> {
        vec![
            json!({"test": "load", "operations": 100, "ranges": 2}),
            json!({"test": "text", "parses": true, "agrees": true, "wrong": ""}),
            json!({"test": "check", "present": true, "checks": 7, "differences": 0, "movements": 900}),
        ]
    }

    #[test]
    fn counts_that_agree_are_no_finding() {
        assert!(said_findings(&good(), Variant::Derived).is_empty());
        assert_eq!(
            described(&good()),
            "100 operations, 2 ranges taken by address; 900 movements, 7 checks, 0 differences"
        );
    }

    #[test]
    fn what_differs_or_was_not_looked_at_is_found() {
        let mut said = good();
        said[2]["differences"] = json!(3);
        said.push(json!({"test": "difference", "line": "Node 0, zone Normal"}));
        let findings = said_findings(&said, Variant::Beside);
        assert_eq!(findings, ["3 differences between counts and lists", "Node 0, zone Normal"]);
        said = good();
        said[2]["checks"] = json!(0);
        assert_eq!(said_findings(&said, Variant::Beside), ["nothing was checked"]);
        said[2] = json!({"test": "check", "present": false});
        assert_eq!(said_findings(&said, Variant::Derived), ["there is no free_counts/check"]);
        assert!(said_findings(&said, Variant::Vanilla).is_empty());
        said[1]["agrees"] = json!(false);
        assert_eq!(text_findings(&said), ["/proc/pagetypeinfo does not add up to /proc/buddyinfo"]);
        assert_eq!(text_findings(&[]), ["nothing was said of /proc/pagetypeinfo"]);
    }

    #[test]
    fn a_variant_with_counts_needs_its_suite() {
        assert_eq!(suite_findings(Variant::Derived, None), ["KUnit: the suite free_counts did not run"]);
        assert!(suite_findings(Variant::Vanilla, None).is_empty());
    }
}
