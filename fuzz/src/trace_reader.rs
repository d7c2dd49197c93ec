//! The property of the trace reader: it returns a trace or an error, with and without partial reading, and a trace can
//! be written again.

use freehold_trace::{ReadOptions, TraceReader, TraceSummary, WriteOptions, recompress};

/// Checks the property for these bytes.
///
/// # Panics
/// If the property is violated.
pub fn body(bytes: &[u8]) {
    let open = |partial| TraceReader::open(bytes, ReadOptions { file: "fuzz".to_owned(), partial });
    let strict = open(false).and_then(|mut reader| TraceSummary::read(&mut reader));
    let partial = open(true).and_then(|mut reader| TraceSummary::read(&mut reader));
    let Ok(partial) = partial else {
        assert!(strict.is_err(), "a whole file is readable in part");
        return;
    };
    if let Ok(strict) = strict {
        assert_eq!(strict, partial);
    }
    if partial.events > 10_000 || partial.occupancy_runs > 10_000 {
        return;
    }
    let options = WriteOptions { batch_rows: 100, ..WriteOptions::new("copy") };
    let reader = open(true).expect("it was opened before");
    let copy = recompress(reader, Vec::new(), options).expect("what was read can be written");
    let copy = TraceReader::open(&copy[..], ReadOptions::new("copy"));
    let copy =
        copy.and_then(|mut reader| TraceSummary::read(&mut reader)).expect("what was written can be read");
    assert_eq!((copy.events, copy.kinds, copy.lost), (partial.events, partial.kinds, partial.lost));
}
