//! Files of perf: where they lie, how they are imported, when two hold the same.
#![allow(dead_code, reason = "the live program uses a part")]

use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};

use freehold_linux::ftrace_text::PfnRadix;
use freehold_linux::{Error, ImportOptions, Imported, MemorySink, import};
use freehold_trace::{Event, EventKind};

/// Returns the path of a committed file.
pub(crate) fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/perf").join(name)
}

/// A committed file, unpacked.
pub(crate) fn unpacked(name: &str) -> Vec<u8> {
    let packed = fs::File::open(fixture(&format!("{name}.xz"))).unwrap();
    let mut bytes = Vec::new();
    liblzma::read::XzDecoder::new(packed).read_to_end(&mut bytes).unwrap();
    bytes
}

/// Imports a file, with the zones and types that lie in `proc`.
pub(crate) fn import_from(source: &Path, proc: &Path) -> Result<(Imported, MemorySink), Error> {
    let options = ImportOptions {
        source: source.to_owned(),
        zoneinfo: proc.join("zoneinfo"),
        pagetypeinfo: proc.join("pagetypeinfo"),
        kpageflags: None,
        pagetypeinfo_end: None,
        kernel_release: String::new(),
        pfn_radix: PfnRadix::Auto,
        page_bytes: 4096,
    };
    let mut sink = MemorySink::default();
    let imported = import(&options, &mut sink)?;
    Ok((imported, sink))
}

/// Fails unless the file's events are those of the text, which does not tell of losses.
#[track_caller]
pub(crate) fn assert_same(file: &MemorySink, text: &MemorySink) {
    let mut events = file.events.iter().filter(|event| !matches!(event.kind, EventKind::Lost { .. }));
    for (number, expected) in text.events.iter().enumerate() {
        let event = events.next().unwrap_or_else(|| panic!("only {number} of {} events", text.events.len()));
        // Perf does not know tasks that have ended.
        let pid = if expected.pid == 0 { 0 } else { event.pid };
        assert_eq!(Event { pid, ..*event }, *expected, "event {number}");
    }
    assert_eq!(events.next(), None);
}
