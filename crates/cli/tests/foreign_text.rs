//! Text from traces and names of files, which must not reach a terminal as commands.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use freehold_trace::{Ending, ReadOptions, TraceReader, TraceWriter, WriteOptions};

use crate::common::{Ran, made_up_trace, run};

/// A window's title, a cleared screen in one byte, text that is shown backwards, a line that is overwritten.
const NASTY: &str = "\u{1b}]0;owned\u{7}\u{9b}2J\u{202e}cod\r\u{1b}[31m\nfreehold: all is well";

/// Copies a trace into one whose header is somebody else's text; `zones` too have such names.
fn nasty_copy(trace: &Path, copy: &Path, zones: bool) {
    let file = BufReader::new(File::open(trace).unwrap());
    let mut reader = TraceReader::open(file, ReadOptions::new("trace")).unwrap();
    let mut origin = reader.origin().clone();
    for text in [&mut origin.kernel_release, &mut origin.architecture, &mut origin.cpu_model] {
        NASTY.clone_into(text);
    }
    NASTY.clone_into(&mut origin.recorder);
    NASTY.clone_into(&mut origin.clock);
    origin.command = vec![NASTY.to_owned(); 2];
    origin.events = vec![NASTY.to_owned()];
    origin.missing_events = vec![NASTY.to_owned()];
    let mut start = reader.start().clone();
    for zone in start.zones.iter_mut().filter(|_| zones) {
        zone.name.push_str(NASTY);
    }
    let options = WriteOptions::new("copy");
    let mut writer = TraceWriter::create(File::create(copy).unwrap(), options, &origin, &start).unwrap();
    while let Some(batch) = reader.next_batch().unwrap() {
        for event in batch {
            writer.push(event).unwrap();
        }
    }
    writer.finish(reader.ending().unwrap_or(&Ending::default())).unwrap();
}

#[track_caller]
fn is_harmless(ran: &Ran, what: &str) {
    for text in [&ran.stdout, &ran.stderr] {
        let obeyed = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t' | '\r')) || ('\u{202a}'..='\u{202e}').contains(&c)
        };
        assert!(!text.contains(obeyed), "{what}: {text:?}");
        assert!(text.replace("\r\n", "\n").find('\r').is_none(), "{what}: {text:?}");
        assert!(!text.lines().any(|line| line.starts_with("freehold: all is well")), "{what}: {text}");
    }
}

#[test]
fn texts_of_a_trace_cannot_control_a_terminal() {
    let (folder, trace) = made_up_trace();
    let [copy, zones] = ["nasty.arrows", "zones.arrows"].map(|name| folder.path().join(name));
    nasty_copy(&trace, &copy, false);
    nasty_copy(&trace, &zones, true);
    let [copy, zones] = [copy, zones].map(|path| path.display().to_string());
    let mut succeeded = 0;
    for words in [
        "trace info",
        "trace info --json",
        "trace head -n 3",
        "trace head -n 3 --json",
        "trace head -n 3 --csv",
        "analyze",
        "analyze --json",
        "analyze --csv",
        "replay --era freehold",
        "replay --era freehold --json",
        "replay --era freehold --csv",
        "compare --replicates 2 --timing-rounds 1",
        "compare --replicates 2 --timing-rounds 1 --full",
        "compare --replicates 2 --timing-rounds 1 --json",
        "compare --replicates 2 --timing-rounds 1 --csv",
        "predict --set compaction_proactiveness=20",
    ] {
        let ran = run(words.split_ascii_whitespace().chain([copy.as_str()]));
        is_harmless(&ran, words);
        succeeded += usize::from(ran.code == Some(0));
        // A replay may refuse zones that it does not know.
        is_harmless(&run(words.split_ascii_whitespace().chain([zones.as_str()])), words);
        if words == "trace info --json" {
            // JSON holds the text itself.
            assert_eq!(ran.ok().json()["origin"]["kernel_release"], NASTY);
        }
    }
    assert!(succeeded >= 12, "{succeeded} commands printed something");
}

#[test]
fn file_names_cannot_control_a_terminal() {
    let (folder, trace) = made_up_trace();
    let name = NASTY.replace('/', "");
    let path = folder.path().join(&name).display().to_string();
    for words in [
        "trace info",
        "trace head",
        "analyze",
        "replay --era freehold",
        "compare",
        "check --root",
        "snapshot --root",
    ] {
        is_harmless(&run(words.split_ascii_whitespace().chain([path.as_str()])), words);
    }
    // Messages about arguments have several lines, and so may an argument.
    let words = path.replace('\n', " ");
    is_harmless(&run(["trace", &words]), "a word that is no command");
    is_harmless(&run([&words]), "a word that is no command");
    std::fs::copy(&trace, &path).unwrap();
    for words in [
        "trace info",
        "compare --replicates 2 --timing-rounds 1 --csv",
        "compare --replicates 2 --timing-rounds 1",
        "replay --era freehold --csv",
    ] {
        is_harmless(&run(words.split_ascii_whitespace().chain([path.as_str()])).ok(), words);
    }
    let trace = trace.to_str().unwrap();
    is_harmless(
        &run(["trace", "repack", trace, "-o", &path]).fails(64, &["exists", r"\u{1b}]0;owned"]),
        "an output",
    );
}
