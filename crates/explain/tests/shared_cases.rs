//! Reports of the shapes of seven from mailing lists and blogs, each with the answer that people came to (`why.txt`), and one of
//! a cgroup.

use freehold_explain::{Answer, Class, Kind, Log, Sure};
use serde_json::Value;

/// Every case.
pub(crate) const NAMES: [&str; 8] = [
    "cgroup-limit",
    "splat-arm64-64k-cma-order0",
    "splat-cma-order0-atomic",
    "splat-dma-order10-8nodes",
    "splat-frag-order4",
    "splat-highatomic-order2",
    "splat-highmem-cma-order1",
    "splat-journald-x0a-64k",
];

pub(crate) fn bytes(name: &str) -> Vec<u8> {
    let path = format!("{}/tests/cases/{name}/splat.txt", env!("CARGO_MANIFEST_DIR"));
    std::fs::read(&path).unwrap_or_else(|error| panic!("{path}: {error}"))
}

struct Explained {
    kind: Kind,
    class: Option<Class>,
    sure: Sure,
    text: String,
    json: Value,
}

impl Explained {
    fn of(name: &str) -> Self {
        let log = Log::read(&bytes(name)[..]).unwrap();
        let answer = Answer::new(&log).unwrap();
        let (kind, class, sure) = (answer.kind(), answer.class(), answer.sure());
        Self { kind, class, sure, text: answer.text(), json: answer.json() }
    }

    fn zone(&self, name: &str) -> &Value {
        let zones = self.json["zones"].as_array().unwrap();
        zones.iter().find(|zone| zone["zone"] == name).unwrap()
    }

    fn says(&self, words: &[&str]) {
        let text = self.text.split_whitespace().collect::<Vec<_>>().join(" ");
        for words in words {
            assert!(text.contains(words), "no {words:?} in {}", self.text);
        }
    }
}

#[test]
fn fragmentation_of_normal_and_reserves_below() {
    let found = Explained::of("splat-frag-order4");
    assert_eq!(
        (found.kind, found.class, found.sure),
        (Kind::PageAllocation, Some(Class::Fragmentation), Sure::Certain)
    );
    let normal = found.zone("Normal");
    assert_eq!((&normal["reason"], &normal["largest_order"]), (&"no_block".into(), &3.into()));
    assert_eq!(normal["fragmentation_index_thousandths"], 889);
    let dma32 = found.zone("DMA32");
    assert_eq!(
        (&dma32["available"], &dma32["needs_more_than"], &dma32["short_by"]),
        (&15858.into(), &15864.into(), &6.into())
    );
    assert_eq!(
        (&found.zone("DMA")["reason"], &found.zone("DMA")["lowmem_reserve"]),
        (&"short".into(), &15809.into())
    );
    found.says(&[
        "order 4 (64 kB)",
        "GFP_NOFS",
        "15.0 GiB",
        "falls back",
        "vm.watermark_boost_factor",
        "0.889",
    ]);
}

#[test]
fn cma_is_closed_to_an_atomic_request() {
    let found = Explained::of("splat-cma-order0-atomic");
    assert_eq!((found.class, found.sure), (Some(Class::Reserve), Sure::Certain));
    let zone = found.zone("DMA");
    // A quarter of the half of 834 pages is open: 313 pages are 1252 kB.
    assert_eq!(
        (&zone["reason"], &zone["available"], &zone["min"]),
        (&"only_in_cma".into(), &164.into(), &313.into())
    );
    found.says(&[
        "143136 kB of the 143792 kB",
        "656 kB available",
        "cannot wait",
        "vm.min_free_kbytes",
        "CMA area smaller",
    ]);
}

#[test]
fn cma_of_a_vendor_kernel_is_closed_to_a_movable_request() {
    let found = Explained::of("splat-arm64-64k-cma-order0");
    assert_eq!((found.kind, found.class, found.sure), (Kind::Oom, Some(Class::Reserve), Sure::Likely));
    assert_eq!(found.json["page_kib"], 64);
    found.says(&[
        "523776 kB of the 613120 kB",
        "89344 kB",
        "91584 kB",
        "order 0 (64 kB)",
        "0 pages of page cache",
        "vendor",
    ]);
}

#[test]
fn dma_alone_is_allowed() {
    let found = Explained::of("splat-dma-order10-8nodes");
    assert_eq!(found.class, Some(Class::Lowmem));
    found.says(&["no zone above DMA", "160 kB free", "largest block 128 kB", "4096 kB"]);
    let allowed = found.json["zones"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|zone| zone["reason"] != "not_allowed_by_flags");
    assert_eq!(allowed.count(), 1);
}

#[test]
fn blocks_in_the_atomic_reserve_are_closed() {
    let found = Explained::of("splat-highatomic-order2");
    assert_eq!((found.kind, found.class, found.sure), (Kind::Oom, Some(Class::Reserve), Sure::Certain));
    assert_eq!(
        (&found.zone("DMA32")["reason"], &found.zone("DMA32")["available"]),
        (&"only_in_highatomic".into(), &5861.into())
    );
    assert_eq!(found.zone("DMA32")["needs_more_than"], 1249 + 4466);
    assert_eq!(
        (&found.zone("Normal")["reason"], &found.zone("DMA")["lowmem_reserve"]),
        (&"short".into(), &7953.into())
    );
    found.says(&["order 2 (16 kB)", "130014 dirty and 40735 under writeback", "before 4.10"]);
}

#[test]
fn low_memory_is_short_while_high_memory_is_free() {
    let found = Explained::of("splat-highmem-cma-order1");
    assert_eq!((found.kind, found.class), (Kind::Oom, Some(Class::Lowmem)));
    assert_eq!(found.zone("HighMem")["reason"], "not_allowed_by_flags");
    found.says(&[
        "watermark 16384 kB",
        "low 25664 kB",
        "all of them CMA",
        "280 + 28 kB",
        "3556 kB",
        "no swap",
        "48.8 MiB",
    ]);
}

#[test]
fn a_listing_without_a_request_is_short() {
    let found = Explained::of("splat-journald-x0a-64k");
    assert_eq!((found.kind, found.class, found.sure), (Kind::MemInfo, Some(Class::Shortage), Sure::Likely));
    assert_eq!((&found.json["page_kib"], &found.zone("Normal")["short_by"]), (&64.into(), &28.into()));
    found.says(&[
        "896 kB",
        "2688 kB",
        "no line names the request",
        "85 free pages on per-CPU lists",
        "cannot wait",
    ]);
}

#[test]
fn answers_are_short() {
    for name in NAMES {
        let found = Explained::of(name);
        assert!(
            found.text.lines().count() <= 20 && found.text.lines().all(|line| line.chars().count() <= 100),
            "{name}"
        );
        assert!(!found.text.contains('…') || name == "splat-dma-order10-8nodes", "{}", found.text);
    }
}
