//! Tests with a made-up kernel whose make is a few lines of shell.

use super::*;
use crate::kernel::scratch::Scratch;
use crate::series::build::recipe::Arch;

/// The built file contains the shelf, the configuration and the number of builds.
const MAKEFILE: &str = "VERSION = 6\nPATCHLEVEL = 12\nSUBLEVEL = 1\n\
    tinyconfig: ; echo '# CONFIG_A is not set' > $(O)/.config\n\
    olddefconfig: ; sed -i /CONFIG_GONE/d $(O)/.config\n\
    linux: ; echo again >> $(O)/times; cat mm/shelf.c $(O)/.config $(O)/times > $(O)/linux\n";

const FILES: [(&str, &str); 12] = [
    ("cache/source/Makefile", MAKEFILE),
    ("cache/source/mm/shelf.c", "shelf\n"),
    ("cache/source/mm/Kconfig", "menu\n"),
    ("cache/source/mm/Makefile", "obj-y += shelf.o\n"),
    ("root/kernel/bench/Kconfig", "config FREEHOLD_BENCH\n"),
    ("root/kernel/config/uml.config", "CONFIG_A=y\nCONFIG_LATE=y\n# only counts\nCONFIG_EARLY=y\n"),
    ("root/kernel/series/counts/0001-early/lines", "mm/shelf.c: end: early\n"),
    ("root/kernel/series/counts/0001-early/new/mm/Kconfig.early", "config EARLY\n"),
    ("root/kernel/series/counts/0002-late/lines", "mm/shelf.c: end: late\n"),
    ("root/kernel/series/counts/0002-late/new/mm/Kconfig.late", "config LATE\n"),
    ("root/kernel/series/counts/harness/0001-check/lines", "mm/shelf.c: end: check\n"),
    ("root/kernel/series/counts/harness/0001-check/append/mm/Kconfig", "config FREE_COUNTS_BESIDE_TOTAL\n"),
];

/// Returns a workshop of that kernel. Its source is in place, so nothing is downloaded.
fn workshop(name: &str) -> Option<(Scratch, Workshop)> {
    if !freehold_needs::can(name, || require_build_programs().map_err(|error| error.to_string())) {
        return None;
    }
    let scratch = Scratch::new().unwrap();
    for (name, text) in FILES {
        scratch.write(name, text).unwrap();
    }
    for patch in ["0001-early", "0002-late", "harness/0001-check"] {
        scratch
            .write(&format!("root/kernel/series/counts/{patch}/message"), "shelf: more\n\nMore.\n")
            .unwrap();
    }
    let workshop = opened(&scratch);
    Some((scratch, workshop))
}

fn opened(scratch: &Scratch) -> Workshop {
    let (root, version) = (scratch.path().join("root"), KernelVersion::V6_12);
    let series = Series::open(&root.join("kernel/series/counts")).unwrap();
    let folder = Folder::at(&scratch.path().join("cache"), version);
    Workshop { root, folder, from: None, series, applied: OnceCell::new() }
}

fn recipe(variant: Variant) -> Recipe {
    Recipe::new(Arch::Um, &["uml"], variant)
}

#[test]
fn each_variant_has_its_source_and_configuration() {
    let Some((_scratch, workshop)) = workshop("each_variant_has_its_source_and_configuration") else {
        return;
    };
    let text = |recipe: &Recipe| fs::read_to_string(workshop.kernel(recipe).unwrap().program).unwrap();
    assert_eq!(text(&recipe(Variant::Vanilla)), "shelf\nCONFIG_A=y\nagain\n");
    let derived = text(&recipe(Variant::Derived));
    let wanted = "shelf\nearly\nlate\ncheck\nCONFIG_A=y\nCONFIG_LATE=y\nCONFIG_EARLY=y\n\
        # CONFIG_FREE_COUNTS_BESIDE_TOTAL is not set\n";
    assert!(derived.starts_with(wanted), "{derived}");
    let beside = text(&recipe(Variant::Beside));
    assert!(
        beside.contains("check\nCONFIG_A=y\nCONFIG_LATE=y\nCONFIG_EARLY=y\nCONFIG_FREE_COUNTS_BESIDE"),
        "{beside}"
    );
    let first = text(&recipe(Variant::Derived).after(1));
    let is_without_harness =
        first.starts_with("shelf\nearly\nCONFIG_A=y\nCONFIG_EARLY=y\n") && !first.contains("BESIDE");
    assert!(is_without_harness, "{first}");
    let last = text(&recipe(Variant::Derived).after(2));
    assert!(
        last.starts_with("shelf\nearly\nlate\nCONFIG_A=y\nCONFIG_LATE=y"),
        "the harness is no step: {last}"
    );
    let tree = workshop.folder.path().join("counts/mm");
    let kconfig = fs::read_to_string(tree.join("Kconfig")).unwrap();
    assert_eq!(kconfig, "menu\nconfig FREE_COUNTS_BESIDE_TOTAL\nsource \"mm/Kconfig.freehold_bench\"\n");
}

#[test]
fn a_kernel_is_built_once_for_the_same_inputs() {
    let Some((scratch, workshop)) = workshop("a_kernel_is_built_once_for_the_same_inputs") else { return };
    let built = workshop.kernel(&recipe(Variant::Derived)).unwrap();
    assert_eq!(workshop.kernel(&recipe(Variant::Derived)).unwrap(), built);
    let times = workshop.folder.path().join("build/um-uml-derived/times");
    assert_eq!(fs::read_to_string(&times).unwrap(), "again\n");
    scratch.write("root/kernel/series/counts/0002-late/lines", "mm/shelf.c: end: later\n").unwrap();
    let other = opened(&scratch).kernel(&recipe(Variant::Derived)).unwrap();
    assert_ne!(other.program, built.program);
    assert!(fs::read_to_string(other.program).unwrap().starts_with("shelf\nearly\nlater\ncheck\n"));
    assert_eq!(fs::read_to_string(&times).unwrap(), "again\nagain\n");
}

#[test]
fn missing_option_is_named() {
    let Some((scratch, workshop)) = workshop("missing_option_is_named") else { return };
    scratch.write("root/kernel/config/uml.config", "CONFIG_GONE=y\n").unwrap();
    let error = workshop.kernel(&recipe(Variant::Vanilla)).unwrap_err().to_string();
    let start = "the kernel cannot be configured: `CONFIG_GONE=y` is required, but the result is off, see ";
    assert!(error.starts_with(start), "{error}");
}
