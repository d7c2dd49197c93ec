//! Lines a second of an import: `cargo bench -p freehold-linux`.

use std::fmt::Write;
use std::path::Path;
use std::time::Instant;

use freehold_linux::ftrace_text::{TextOptions, read_text_events};

const LINES: u64 = 200_000;

/// Imports, of which the fastest is printed.
const ROUNDS: usize = 10;

fn text() -> String {
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
}

fn main() {
    let text = text();
    let mut fastest = f64::MAX;
    for _ in 0..ROUNDS {
        let begin = Instant::now();
        let mut events = 0;
        let take = &mut |_| {
            events += 1;
            Ok(())
        };
        let counts = read_text_events(Path::new("text"), &mut text.as_bytes(), &TextOptions::default(), take);
        assert_eq!((counts.expect("a valid text").events, events), (LINES, LINES));
        fastest = fastest.min(begin.elapsed().as_secs_f64());
    }
    println!("{:.2} million lines a second, the fastest of {ROUNDS} imports", LINES as f64 / fastest / 1e6);
}
