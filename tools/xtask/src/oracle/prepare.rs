//! Adds the oracle to a kernel's source, and configures the kernel.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use freehold_oracle::KernelVersion;

use super::error::{OracleError, OracleResult};
use crate::kernel::KernelError;
use crate::kernel::files::{read, with_last_line, write_if_changed};
use crate::kernel::process::{Job, command};

/// The added files: path in the kernel, and text.
pub(super) const FILES: [(&str, &str); 9] = [
    ("mm/freehold_oracle.c", include_str!("../../../../kernel/oracle/freehold_oracle.c")),
    ("mm/freehold_oracle_state.c", include_str!("../../../../kernel/oracle/freehold_oracle_state.c")),
    ("mm/freehold_oracle_events.c", include_str!("../../../../kernel/oracle/freehold_oracle_events.c")),
    ("mm/freehold_oracle_calls.c", include_str!("../../../../kernel/oracle/freehold_oracle_calls.c")),
    ("mm/freehold_oracle_tidying.c", include_str!("../../../../kernel/oracle/freehold_oracle_tidying.c")),
    ("mm/freehold_oracle_pass.c", include_str!("../../../../kernel/oracle/freehold_oracle_pass.c")),
    ("mm/freehold_oracle_bench.c", include_str!("../../../../kernel/oracle/freehold_oracle_bench.c")),
    ("mm/freehold_oracle_vmstat.c", include_str!("../../../../kernel/oracle/freehold_oracle_vmstat.c")),
    ("mm/Kconfig.freehold", include_str!("../../../../kernel/oracle/Kconfig")),
];

/// The lines at the end of the kernel's own files that include the added files.
const LINES: [(&str, &str); 4] = [
    ("mm/page_alloc.c", "#include \"freehold_oracle.c\""),
    ("mm/vmstat.c", "#include \"freehold_oracle_vmstat.c\""),
    ("mm/Kconfig", "source \"mm/Kconfig.freehold\""),
    ("mm/Makefile", "CFLAGS_page_alloc.o += -Dlru_cache_disable=freehold_lru_cache_disable"),
];

/// The same lines for the files that the series `tidying` adds.
const LINES_TIDYING: [(&str, &str); 1] = [("mm/pageblock_tidying.c", "#include \"freehold_oracle_pass.c\"")];

/// Returns the lines that are added to the end of a kernel's files.
pub(super) fn lines(version: KernelVersion) -> impl Iterator<Item = (&'static str, &'static str)> {
    let more: &[_] = if version.series() == Some("tidying") { &LINES_TIDYING } else { &[] };
    LINES.iter().chain(more).copied()
}

const PAGEBLOCK_FILE: &str = "include/linux/pageblock-flags.h";
const PAGEBLOCK_ORDER: u32 = 9;

/// Options on top of the smallest configuration: those that the oracle needs, and those of the allocator
/// on any machine.
const OPTIONS: [&str; 17] = [
    "-e 64BIT",
    "-e PRINTK",
    "-e BUG",
    "-e PROC_FS",
    "-e SYSCTL",
    "-e PROC_SYSCTL",
    "-e VM_EVENT_COUNTERS",
    "-e SHMEM",
    "-e COMPACTION",
    "-e CMA",
    "-e FTRACE",
    "-e ENABLE_DEFAULT_TRACERS",
    "-e NULL_CHAN",
    "-e EARLY_PRINTK",
    "-e CC_OPTIMIZE_FOR_PERFORMANCE",
    "-d SLUB_TINY",
    "-d DEBUG_INFO",
];

/// Options for kernels with SMP under User-Mode Linux.
const OPTIONS_SMP: [&str; 3] = ["-e SMP", "--set-val NR_CPUS 8", "--set-val PAGE_BLOCK_MAX_ORDER 9"];

/// Options for kernels with the series `tidying`. The release string distinguishes them.
const OPTIONS_TIDYING: [&str; 2] = ["-e PAGEBLOCK_TIDYING", "--set-str LOCALVERSION -tidying"];

/// Returns the options for one kernel, as `scripts/config` takes them.
pub(super) fn options(version: KernelVersion) -> Vec<&'static str> {
    let smp: &[&str] = if version.most_cpus() > 1 { &OPTIONS_SMP } else { &[] };
    let tidying: &[&str] = if version.series() == Some("tidying") { &OPTIONS_TIDYING } else { &[] };
    OPTIONS.iter().chain(smp).chain(tidying).copied().collect()
}

/// Returns the lines that the final configuration must have.
fn needed(version: KernelVersion) -> &'static [&'static str] {
    let all = &["FREEHOLD_ORACLE=y", "64BIT=y", "SMP=y", "PAGE_BLOCK_MAX_ORDER=9", "PAGEBLOCK_TIDYING=y"];
    match (version.most_cpus(), version.series()) {
        (..2, _) => &all[..2],
        (_, None) => &all[..4],
        (_, Some(_)) => all,
    }
}

/// Lines that the final configuration must not have, as they change what the allocator does.
const UNWANTED: [&str; 6] = [
    "DEBUG_VM=y",
    "HUGETLB_PAGE=y",
    "TRANSPARENT_HUGEPAGE=y",
    "INIT_ON_ALLOC_DEFAULT_ON=y",
    "PAGE_POISONING=y",
    "SHUFFLE_PAGE_ALLOCATOR=y",
];

/// Adds the oracle to a source tree, in which a series leaves the files `patched`. Files that are up to date
/// are not written.
pub(super) fn source(
    tree: &Path,
    version: KernelVersion,
    patched: &BTreeMap<String, String>,
) -> OracleResult<()> {
    for (name, text) in FILES {
        write_if_changed(&tree.join(name), text)?;
    }
    let with_lines: BTreeMap<_, _> = lines(version).collect();
    for (name, line) in &with_lines {
        let path = tree.join(name);
        let text = patched.get(*name).map_or_else(|| read(&path), |text| Ok(text.clone()))?;
        write_if_changed(&path, &with_last_line(&text, line))?;
    }
    for (name, text) in patched.iter().filter(|(name, _)| !with_lines.contains_key(name.as_str())) {
        let path = tree.join(name);
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder).map_err(OracleError::file(folder))?;
        }
        write_if_changed(&path, text)?;
    }
    // Newer kernels have an option for the order of a pageblock.
    if version < KernelVersion::V7_3 {
        let path = tree.join(PAGEBLOCK_FILE);
        let text = read(&path)?;
        write_if_changed(&path, &with_pageblock_order(&text)?)?;
    }
    Ok(())
}

/// Configures a prepared source tree.
pub(super) fn configure(tree: &Path, version: KernelVersion, job: &Job) -> OracleResult<()> {
    let make = |target: &str| job.run(command("make").current_dir(tree).args(["ARCH=um", "-s", target]));
    make("tinyconfig")?;
    let words = options(version).into_iter().flat_map(str::split_whitespace);
    job.run(command("scripts/config").current_dir(tree).args(words))?;
    make("olddefconfig")?;
    let config = tree.join(".config");
    let text = read(&config)?;
    match fault(&text, version) {
        None => Ok(()),
        Some(fault) => Err(KernelError::Configuration { fault, config }.into()),
    }
}

/// Returns what is wrong with a configuration, or `None`.
fn fault(config: &str, version: KernelVersion) -> Option<String> {
    let has = |option: &str| config.lines().any(|line| line.strip_prefix("CONFIG_") == Some(option));
    let missing = needed(version).iter().find(|option| !has(option));
    let unwanted = UNWANTED.iter().find(|option| has(option));
    missing
        .map(|option| format!("CONFIG_{option} is missing"))
        .or_else(|| unwanted.map(|option| format!("CONFIG_{option} is there")))
}

/// Returns the header with pageblocks of order 9, as on x86-64 with huge pages.
fn with_pageblock_order(text: &str) -> OracleResult<String> {
    let wanted = PAGEBLOCK_ORDER.to_string();
    let mut found = false;
    let mut edited = String::with_capacity(text.len());
    for line in text.lines() {
        let mut words = line.split_whitespace();
        let is_order = words.next() == Some("#define") && words.next() == Some("pageblock_order");
        let value: Vec<_> = words.collect();
        let is_largest = matches!(value[..], ["(MAX_ORDER-1)" | "MAX_PAGE_ORDER"]);
        if is_order && (is_largest || value == [wanted.as_str()]) {
            found = true;
            edited.push_str("#define pageblock_order\t\t");
            edited.push_str(&wanted);
        } else {
            edited.push_str(line);
        }
        edited.push('\n');
    }
    if found {
        return Ok(edited);
    }
    Err(OracleError::NoSuchLine {
        file: PAGEBLOCK_FILE,
        line: "#define pageblock_order MAX_PAGE_ORDER",
        consequence: "its pageblocks cannot be made 512 pages large",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: &str = "#define pageblock_order\t\tMIN_T(unsigned int, HUGETLB_PAGE_ORDER, MAX_PAGE_ORDER)\n\
        #else\n#define pageblock_order\t\tMAX_PAGE_ORDER\n#endif\n\
        #define pageblock_nr_pages\t(1UL << pageblock_order)\n";

    #[test]
    fn pageblocks_become_order_nine_in_one_line() {
        let edited = with_pageblock_order(HEADER).unwrap();
        let wanted = HEADER.replace("\t\tMAX_PAGE_ORDER\n", "\t\t9\n");
        assert_eq!(edited, wanted);
        assert_eq!(with_pageblock_order(&edited).unwrap(), wanted, "a second time changes nothing");
        let old = HEADER.replace("\t\tMAX_PAGE_ORDER\n", "\t\t(MAX_ORDER-1)\n");
        assert_eq!(with_pageblock_order(&old).unwrap(), wanted);
    }

    #[test]
    fn unknown_header_is_refused() {
        let error = with_pageblock_order("#define pageblock_order\t\tSOMETHING\n").unwrap_err();
        assert_eq!(
            error.to_string(),
            "the kernel source cannot be prepared: include/linux/pageblock-flags.h has no line \
             `#define pageblock_order MAX_PAGE_ORDER`, so its pageblocks cannot be made 512 pages large"
        );
    }

    #[test]
    fn faults_of_the_configuration_are_found() {
        let good = "CONFIG_64BIT=y\nCONFIG_FREEHOLD_ORACLE=y\n";
        assert_eq!(fault(good, KernelVersion::V6_12), None);
        assert_eq!(fault(good, KernelVersion::V7_3).as_deref(), Some("CONFIG_SMP=y is missing"));
        let whole = "CONFIG_64BIT=y\nCONFIG_FREEHOLD_ORACLE=y\nCONFIG_SMP=y\nCONFIG_PAGE_BLOCK_MAX_ORDER=9\n";
        assert_eq!(fault(whole, KernelVersion::V7_3), None);
        let missing = fault(whole, KernelVersion::V7_3Tidying);
        assert_eq!(missing.as_deref(), Some("CONFIG_PAGEBLOCK_TIDYING=y is missing"));
        let debugging = format!("{good}CONFIG_DEBUG_VM=y\n");
        assert_eq!(fault(&debugging, KernelVersion::V6_1).as_deref(), Some("CONFIG_DEBUG_VM=y is there"));
    }
}
