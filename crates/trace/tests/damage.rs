//! Damaged, foreign and hostile files give the right error, and never cause a panic.

use std::sync::Arc;

use arrow_array::{ArrayRef, RecordBatch, StringArray, UInt8Array, UInt64Array};
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use arrow_schema::Schema;
use freehold_trace::{TraceError, WriteOptions};

use crate::common::{Contents, every_kind, read, small_trace, start, trace, workload};

/// Returns the ends of the complete messages at the start of `bytes`.
fn boundaries(bytes: &[u8]) -> Vec<usize> {
    let mut ends = vec![0];
    let mut at = 0;
    while let Some(length) = bytes.get(at + 4..at + 8) {
        let length = u32::from_le_bytes(length.try_into().unwrap()) as usize;
        let metadata = &bytes[at + 8..at + 8 + length];
        let body = if length == 0 { 0 } else { arrow_ipc::root_as_message(metadata).unwrap().bodyLength() };
        at += 8 + length + body as usize;
        ends.push(at);
    }
    ends
}

#[test]
fn file_cut_at_any_byte_gives_the_right_error() {
    let bytes = small_trace();
    let ends = boundaries(&bytes);
    let events = every_kind();
    let ending_ends = ends[ends.len() - 2];
    for length in 0..bytes.len() {
        let messages = ends.iter().filter(|&&end| end <= length).count() - 1;
        let events_before = [0, 0, 0, 3, 6, 8, 8][messages];
        let strict = read(&bytes[..length], false);
        match strict {
            Err(TraceError::Empty { .. }) => assert_eq!(length, 0),
            Err(TraceError::Truncated { batch, events_before: before, bytes, .. }) => {
                assert!(!ends.contains(&length));
                assert_eq!((batch, before, bytes), (messages as u64, events_before as u64, length as u64));
            }
            Ok(contents) => {
                assert!(ends.contains(&length));
                assert_eq!(contents.events, events[..events_before]);
                assert_eq!(contents.cut_short, length < ending_ends);
            }
            Err(other) => panic!("cut at {length}: {other}"),
        }
        match read(&bytes[..length], true) {
            Ok(contents) => {
                assert_eq!(contents.events, events[..events_before]);
                assert_eq!(contents.cut_short, length < ending_ends);
            }
            Err(_) => assert!(length < ends[1], "only a file without its header cannot be read in part"),
        }
    }
}

#[test]
fn every_flipped_bit_before_the_ending_is_detected() {
    let bytes = small_trace();
    let ends = boundaries(&bytes);
    let ending_starts = ends[ends.len() - 3];
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            let result = read(&damaged, bit % 2 == 0);
            // With `partial`, a file with a length that points behind its end counts as cut short.
            let cut_short = result.as_ref().is_ok_and(|contents| contents.cut_short);
            assert!(result.is_err() || cut_short || at >= ending_starts, "bit {bit} of byte {at}");
        }
    }
}

#[test]
fn damage_in_a_large_trace_never_panics() {
    let bytes = trace(&workload(20_000), WriteOptions::new("large"), 5000);
    for at in (0..bytes.len()).step_by(211) {
        for value in [0, 0x7f, 0xff] {
            let mut damaged = bytes.clone();
            damaged[at] = value;
            let _ = read(&damaged, true);
            damaged.drain(at..(at + 8).min(bytes.len()));
            let _ = read(&damaged, false);
        }
    }
}

#[test]
fn foreign_files_are_named() {
    let plain = {
        let batch = RecordBatch::try_from_iter([("a", Arc::new(UInt8Array::from(vec![1])) as ArrayRef)]);
        let batch = batch.unwrap();
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        writer.write(&batch).unwrap();
        writer.into_inner().unwrap()
    };
    let files: [(&[u8], &str); 8] = [
        (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "something else"),
        (b"\x1f\x8b\x08\0\0\0\0\0\0\x03\x03\0\0\0\0\0\0\0\0\0", "gzip"),
        (b"# tracer: nop\n", "tracefs"),
        (b"\x17\x08\x44tracing6\0", "trace-cmd"),
        (b"ARROW1\0\0", "Arrow file"),
        (b"x", "something else"),
        (b"\xff\xff\xff\xff\0\0\0\0", "empty Arrow stream"),
        (&plain, "Arrow stream of something else"),
    ];
    for (bytes, says) in files {
        match read(bytes, false) {
            Err(error @ TraceError::NotATrace { .. }) => {
                let text = error.to_string();
                assert!(text.starts_with("t.arrows: ") && text.contains(says), "{text}");
            }
            other => panic!("{says}: {other:?}"),
        }
    }
    assert!(matches!(read(b"", true), Err(TraceError::Empty { .. })));
}

/// Reads a trace with arrow-ipc, changes it, and writes it without compression, as another
/// program might. The ending is omitted, because it has the checksum.
fn rewrite(change: impl Fn(&mut Schema, &mut Vec<ArrayRef>)) -> Vec<u8> {
    let bytes = trace(&every_kind(), WriteOptions::new("small"), usize::MAX);
    let batches = StreamReader::try_new(&bytes[..], None).unwrap().map(Result::unwrap).collect::<Vec<_>>();
    let mut schema = Schema::clone(&batches[0].schema());
    let mut columns = batches[1].columns().to_vec();
    change(&mut schema, &mut columns);
    let schema = Arc::new(schema);
    let occupancy = RecordBatch::try_new(Arc::clone(&schema), batches[0].columns().to_vec());
    let events = RecordBatch::try_new(Arc::clone(&schema), columns).unwrap();
    let mut writer = StreamWriter::try_new(Vec::new(), &schema).unwrap();
    if let Ok(occupancy) = occupancy {
        writer.write(&occupancy).unwrap();
    }
    writer.write(&events).unwrap();
    writer.into_inner().unwrap()
}

/// Changes one row of a column of small numbers.
fn with_byte(column: &str, row: usize, value: u8) -> Result<Contents, TraceError> {
    let bytes = rewrite(|schema, columns| {
        let at = schema.index_of(column).unwrap();
        let mut values = columns[at].as_any().downcast_ref::<UInt8Array>().unwrap().values().to_vec();
        values[row] = value;
        columns[at] = Arc::new(UInt8Array::from(values));
    });
    read(&bytes, false)
}

fn with_u64(column: &str, row: usize, value: Option<u64>) -> Result<Contents, TraceError> {
    let bytes = rewrite(|schema, columns| {
        let at = schema.index_of(column).unwrap();
        let old = columns[at].as_any().downcast_ref::<UInt64Array>().unwrap();
        columns[at] = Arc::new(
            old.iter().enumerate().map(|(i, v)| if i == row { value } else { v }).collect::<UInt64Array>(),
        );
    });
    read(&bytes, false)
}

#[test]
fn trace_from_another_writer_is_read() {
    let contents = read(&rewrite(|_, _| {}), false).unwrap();
    assert_eq!(contents.events, every_kind());
    assert_eq!(contents.start, start());
    assert!(contents.cut_short);
}

#[test]
fn numbers_without_meaning_name_row_and_column() {
    let cases = [
        ("order", 2, 11),
        ("migratetype", 4, 6),
        ("fallback_order", 3, 200),
        ("fallback_migratetype", 3, 7),
        ("kind", 5, 21),
    ];
    for (column, row, value) in cases {
        match with_byte(column, row, value) {
            Err(TraceError::BadValue { file, batch, row: at, column: named, value: found, .. }) => {
                // Three rows of occupancy precede the events.
                assert_eq!((batch, at, found), (2, row as u64 + 3, value.into()));
                assert_eq!((file.as_str(), named), ("t.arrows", column));
            }
            other => panic!("{column}: {other:?}"),
        }
    }
}

#[test]
fn time_must_not_go_backwards() {
    let result = with_u64("time_ns", 6, Some(21));
    let expected =
        matches!(result, Err(TraceError::TimeBackwards { batch: 2, row: 9, before_ns: 22, time_ns: 21, .. }));
    assert!(expected, "{result:?}");
}

#[test]
fn blocks_must_be_inside_one_zone() {
    for (row, pfn) in
        [(0, 0), (0, 4000), (2, 4096), (4, 0x18_0000 - 1023), (5, u64::MAX), (5, u64::MAX - 1023)]
    {
        match with_u64("pfn", row, Some(pfn)) {
            Err(TraceError::PfnOutsideZones { batch: 2, row: at, pfn: found, .. }) => {
                assert_eq!((at, found), (row as u64 + 3, pfn));
            }
            other => panic!("{pfn:#x}: {other:?}"),
        }
    }
}

#[test]
fn only_a_failed_allocation_has_no_pfn() {
    for row in 2..6 {
        let result = with_u64("pfn", row, None);
        let at = row as u64 + 3;
        let expected = matches!(result, Err(TraceError::Corrupt { batch: 2, row: Some(r), .. }) if r == at);
        assert!(expected, "{result:?}");
    }
    assert!(with_u64("pfn", 0, None).is_ok());
}

#[test]
fn newer_and_incomplete_headers_are_refused() {
    let with = |key: &str, value: Option<&str>| {
        let bytes = rewrite(|schema, _| {
            schema.metadata.remove(key);
            if let Some(value) = value {
                schema.metadata.insert(key.to_owned(), value.to_owned());
            }
        });
        read(&bytes, false)
    };
    let newer = with("freehold.version", Some("4"));
    assert!(matches!(newer, Err(TraceError::NewerVersion { found: 4, known: 3, .. })), "{newer:?}");
    let zone = r#"{"node":0,"name":"Normal","start_pfn":18446744073709551615,"spanned":1,"present":0,
        "managed":0,"free":0,"cma":0,"watermark_min":0,"watermark_low":0,"watermark_high":0,
        "watermark_promo":0,"boost":0,"protection":[],"pagesets":[]}"#;
    let start = |zone: &str, order: u8, types: &str| {
        format!(
            r#"{{"time_ns":0,"zones":[{zone}],"pagetypeinfo":{{"pageblock_order":{order},"zones":[],"types":[{types}]}},
            "vmstat":{{}},"sysctl":{{}}}}"#
        )
    };
    assert!(!matches!(with("freehold.start", Some(&start("", 9, "0"))), Err(TraceError::Corrupt { .. })));
    let cases = [
        ("freehold.version", Some("0".to_owned())),
        // The file has one column more than version 1 has.
        ("freehold.version", Some("1".to_owned())),
        ("freehold.version", Some("one".to_owned())),
        ("freehold.version", None),
        ("freehold.origin", Some("{}".to_owned())),
        ("freehold.start", Some("[".repeat(100_000))),
        ("freehold.start", Some(start(zone, 9, ""))),
        ("freehold.start", Some(start("", 19, ""))),
        ("freehold.start", Some(start("", 9, "6"))),
    ];
    for (key, value) in cases {
        let result = with(key, value.as_deref());
        assert!(matches!(result, Err(TraceError::Corrupt { batch: 0, .. })), "{key} {value:?}: {result:?}");
    }
    let other = with("freehold.format", Some("another"));
    assert!(matches!(other, Err(TraceError::NotATrace { .. })), "{other:?}");
}

#[test]
fn another_column_or_type_is_corrupt() {
    let renamed = rewrite(|schema, _| {
        let mut fields: Vec<_> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        fields[1] = fields[1].clone().with_name("core");
        schema.fields = fields.into();
    });
    let retyped = rewrite(|schema, columns| {
        let mut fields: Vec<_> = schema.fields().iter().map(|field| field.as_ref().clone()).collect();
        fields[14] = fields[13].clone().with_name("note");
        schema.fields = fields.into();
        columns[14] = Arc::clone(&columns[13]);
    });
    for bytes in [renamed, retyped] {
        let result = read(&bytes, false);
        assert!(matches!(result, Err(TraceError::Corrupt { batch: 0, row: None, .. })), "{result:?}");
    }
}

#[test]
fn occupancy_must_ascend_and_come_first() {
    let result = with_byte("kind", 4, 0);
    assert!(matches!(result, Err(TraceError::Corrupt { row: Some(7), .. })), "{result:?}");
    let result = with_byte("kind", 0, 0);
    assert!(matches!(result, Err(TraceError::Corrupt { row: Some(3), .. })), "{result:?}");
}

#[test]
fn the_ending_must_be_the_last_row_and_count_right() {
    let result = with_byte("kind", 4, 255);
    assert!(matches!(result, Err(TraceError::Corrupt { row: Some(7), .. })), "{result:?}");
    for (note, says) in
        [(r#"{"events":8}"#, "note of the ending"), ("", "note of the ending"), (GOOD, "7 events where")]
    {
        let bytes = rewrite(|schema, columns| {
            let at = schema.index_of("kind").unwrap();
            let mut kinds = columns[at].as_any().downcast_ref::<UInt8Array>().unwrap().values().to_vec();
            kinds[7] = 255;
            columns[at] = Arc::new(UInt8Array::from(kinds));
            let notes = [Some("skipped"); 7].into_iter().chain([Some(note)]);
            columns[14] = Arc::new(notes.collect::<StringArray>());
        });
        let text = read(&bytes, false).unwrap_err().to_string();
        assert!(text.contains(says), "{text}");
    }
}

const GOOD: &str = r#"{"events":8,"ending":{"snapshot":null,"lost_by_cpu":[],"command_exit":null,
    "disturbance":{"cpu_ns":0,"wall_ns":0,"own_events":0,"buffer_pages":0}}}"#;

#[test]
fn bytes_behind_the_end_are_corrupt() {
    for more in [&b"x"[..], b"\xff\xff\xff\xff\0\0\0\0", &small_trace()] {
        let bytes = [&small_trace(), more].concat();
        let result = read(&bytes, true);
        assert!(matches!(result, Err(TraceError::Corrupt { .. })), "{result:?}");
    }
}

#[test]
fn false_lengths_are_refused_before_allocation() {
    let bytes = small_trace();
    let schema_ends = boundaries(&bytes)[1];
    for length in [16 << 20, (16 << 20) + 1, 0x7fff_ffff, 0x8000_0000, u32::MAX - 1] {
        let mut damaged = bytes.clone();
        damaged[schema_ends + 4..schema_ends + 8].copy_from_slice(&u32::to_le_bytes(length));
        assert!(read(&damaged, false).is_err());
    }
}
