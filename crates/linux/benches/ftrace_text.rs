//! Lines a second of an import.

use std::fmt::Write;
use std::path::Path;
use std::sync::LazyLock;

use divan::Bencher;
use divan::counter::ItemsCount;
use freehold_linux::ftrace_text::{TextOptions, read_text_events};

const LINES: u64 = 200_000;

static TEXT: LazyLock<String> = LazyLock::new(|| {
    let mut text = String::new();
    for line in 0..LINES {
        let (seconds, micros) = (line / 1_000_000, line % 1_000_000);
        writeln!(
            text,
            "            bash-7313    [000] .....   {seconds}.{micros:06}: mm_page_alloc: page=0000000002af01c2 \
             pfn=0x{line:x} order=0 migratetype=0 gfp_flags=GFP_KERNEL_ACCOUNT|__GFP_ZERO|__GFP_COMP"
        )
        .expect("writing into a string does not fail");
    }
    text
});

fn main() {
    divan::main();
}

/// Text of ftrace into events.
#[divan::bench(sample_count = 10, sample_size = 1)]
fn lines(bencher: Bencher) {
    let text = TEXT.as_bytes();
    bencher.counter(ItemsCount::new(LINES)).bench(|| {
        let mut events = 0;
        let take = &mut |_| {
            events += 1;
            Ok(())
        };
        let counts = read_text_events(Path::new("text"), &mut &*text, &TextOptions::default(), take);
        assert_eq!((counts.expect("a valid text").events, events), (LINES, LINES));
    });
}
