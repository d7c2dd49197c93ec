//! Pages built by hand, with every type of record, whole and damaged.

use super::*;

const HEADER: &str = "\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n\
    \tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n\
    \tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n\
    \tfield: char data;\toffset:16;\tsize:4080;\tsigned:0;\n";

/// Builds a page record by record.
struct Builder(Vec<u8>);

impl Builder {
    fn new() -> Self {
        Self(Vec::new())
    }

    fn word(mut self, word: u32) -> Self {
        self.0.extend(word.to_ne_bytes());
        self
    }

    fn head(self, kind: u32, delta: u32) -> Self {
        self.word(if cfg!(target_endian = "big") { kind << 27 | delta } else { kind | delta << 5 })
    }

    fn page(self, time_ns: u64, flags: u64) -> Vec<u8> {
        let mut page = Vec::from(time_ns.to_ne_bytes());
        page.extend((self.0.len() as u64 | flags).to_ne_bytes());
        page.extend(self.0);
        page.resize(4096, 0);
        page
    }
}

fn layout() -> PageLayout {
    PageLayout::parse(HEADER).unwrap()
}

fn times_and_lengths(page: &[u8]) -> Vec<(u64, usize)> {
    let page = RingPage::parse(&layout(), page).unwrap();
    page.records().map(|r| r.map(|r| (r.time_ns, r.event.len())).unwrap()).collect()
}

#[test]
fn the_layout_is_the_announced_one() {
    assert_eq!(layout().page_bytes(), 4096);
    assert!(PageLayout::parse(&HEADER.replace("commit", "comet")).is_err());
    assert!(PageLayout::parse(&HEADER.replace("4080", "99999999999")).is_err());
}

#[test]
fn every_type_of_record_is_understood() {
    let page = Builder::new()
        .head(2, 5) // 8 bytes, in the first word
        .word(1)
        .word(2)
        .head(TYPE_TIME_EXTEND, 7) // (3 << 27) + 7 on
        .word(3)
        .head(0, 1) // 4 bytes, in the second word, which counts itself
        .word(8)
        .word(9)
        .head(TYPE_PADDING, 4) // a discarded event of 8 bytes
        .word(8)
        .word(0)
        .head(1, 0)
        .word(3)
        .head(TYPE_TIME_STAMP, 11) // absolute
        .word(1 << 10)
        .head(1, 2)
        .word(3)
        .head(TYPE_PADDING, 0) // the rest is empty
        .word(0xffff_ffff)
        .page(1000, 0);
    let far = 1005 + (3 << 27) + 7 + 1;
    let stamp = (1_u64 << 37) + 11;
    assert_eq!(times_and_lengths(&page), [(1005, 8), (far, 4), (far + 4, 4), (stamp + 2, 4)]);
}

#[test]
fn a_discarded_event_with_delta_1_took_no_time() {
    let page = Builder::new().head(TYPE_PADDING, 1).word(4).head(1, 3).word(0).page(10, 0);
    assert_eq!(times_and_lengths(&page), [(13, 4)]);
}

#[test]
fn absolute_stamps_keep_the_high_bits_and_wrap() {
    assert_eq!(absolute(0x0800_0000_0000_0005, 9), 0x0800_0000_0000_0009);
    assert_eq!(absolute(0x07ff_ffff_ffff_ffff, 3), 0x0800_0000_0000_0003);
}

#[test]
fn missed_events_are_counted() {
    let build = |flags| Builder::new().head(1, 0).word(7).page(1, flags);
    let missed = |page: &[u8]| RingPage::parse(&layout(), page).unwrap().missed;
    assert_eq!(missed(&build(0)), Missed::None);
    assert_eq!(missed(&build(MISSED_EVENTS)), Missed::Some);
    let mut page = build(MISSED_EVENTS | MISSED_STORED);
    page[16 + 8..16 + 16].copy_from_slice(&321_u64.to_ne_bytes());
    assert_eq!(missed(&page), Missed::Count(321));
    assert_eq!(times_and_lengths(&page), [(1, 4)]);
}

#[test]
fn damaged_pages_are_errors() {
    let whole = Builder::new().head(2, 5).word(1).word(2).page(1, 0);
    assert_eq!(RingPage::parse(&layout(), &whole[..12]), Err(PageError::Short(12)));
    assert_eq!(RingPage::parse(&layout(), &whole[..20]), Err(PageError::Commit { said: 12, room: 4 }));
    let cut = Builder::new().head(3, 0).word(1).page(1, 0);
    let page = RingPage::parse(&layout(), &cut).unwrap();
    let read: Vec<_> = page.records().collect();
    assert_eq!(read, [Err(PageError::Record { at: 0, records: 8 })]);
    for bad_length in [0, 3, 4000, u32::MAX] {
        let page = Builder::new().head(0, 0).word(bad_length).word(0).page(1, 0);
        let page = RingPage::parse(&layout(), &page).unwrap();
        assert!(page.records().last().unwrap().is_err(), "length {bad_length}");
    }
    let page = Builder::new().head(TYPE_PADDING, 9).word(u32::MAX).page(1, 0);
    assert!(RingPage::parse(&layout(), &page).unwrap().records().last().unwrap().is_err());
}

#[test]
fn an_empty_page_has_no_records() {
    assert_eq!(times_and_lengths(&Builder::new().page(5, 0)), []);
}

#[test]
fn no_page_makes_the_parser_panic() {
    let seed = 0x5eed_0001_u64;
    println!("seed {seed:#x}");
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state >> 33
    };
    let layout = layout();
    for _ in 0..20_000 {
        let mut page = Builder::new();
        for _ in 0..next() % 40 {
            page = page.head((next() % 32) as u32, (next() % 4) as u32).word((next() % 24) as u32);
        }
        let mut page = page.page(next(), (next() % 4) << 30);
        for _ in 0..next() % 4 {
            let at = next() as usize % page.len();
            page[at] = next() as u8;
        }
        page.truncate(next() as usize % 4200);
        if let Ok(page) = RingPage::parse(&layout, &page) {
            assert!(page.records().count() <= 1024, "at least 4 bytes a record");
        }
    }
}
