//! Files of perf, compared with the text that perf itself writes of them.

use std::fs;
use std::path::PathBuf;

use freehold_linux::{Error, Imported, MemorySink, PerfDataError};
use freehold_trace::EventKind;

use crate::perf_files::{assert_same, fixture, import_from, unpacked};
use crate::roots::random;

/// The files that are committed, and how many records each lost on each CPU.
const SAMPLES: [(&str, &[u64]); 3] = [("plain", &[163, 1213]), ("packed", &[]), ("pipe", &[])];

/// Imports bytes as a file beside the committed ones.
fn import_bytes(bytes: &[u8]) -> Result<(Imported, MemorySink), Error> {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("perf.data");
    fs::write(&source, bytes).unwrap();
    import_from(&source, &fixture(""))
}

/// What is wrong with bytes that cannot be imported.
#[track_caller]
fn wrong(bytes: &[u8]) -> PerfDataError {
    match import_bytes(bytes) {
        Err(Error::PerfData { source, .. }) => source,
        Err(other) => panic!("{other}"),
        Ok((imported, _)) => panic!("imported: {imported:?}"),
    }
}

#[test]
fn committed_files_hold_what_perf_prints_of_them() {
    let folder = tempfile::tempdir().unwrap();
    for (name, lost) in SAMPLES {
        let [file, text] = ["data", "txt"].map(|ending| {
            let path = folder.path().join(format!("{name}.{ending}"));
            fs::write(&path, unpacked(&format!("{name}.{ending}"))).unwrap();
            import_from(&path, &fixture("")).unwrap_or_else(|error| panic!("{error}"))
        });
        assert_same(&file.1, &text.1);
        let (Imported::PerfData(counts), Imported::Text(expected)) = (file.0, text.0) else {
            panic!("{name}")
        };
        assert_eq!((counts.events, counts.other_samples), (expected.events, expected.other_lines), "{name}");
        assert_eq!(counts.lost, lost.iter().sum::<u64>(), "{name}");
        let ending = file.1.ending.as_ref().unwrap();
        assert_eq!(ending.lost_by_cpu, lost, "{name}");
        let origin = file.1.origin.as_ref().unwrap();
        assert_eq!((origin.page_bytes, &origin.kernel_release[..8]), (4096, "6.18.44-"), "{name}");
    }
}

/// Time, CPU and count of each loss.
fn losses(sink: &MemorySink) -> Vec<(u64, u16, u64)> {
    let lost = sink.events.iter().filter_map(|event| match event.kind {
        EventKind::Lost { count } => Some((event.time_ns, event.cpu, count)),
        _ => None,
    });
    lost.collect()
}

#[test]
fn losses_are_where_perf_tells_of_them_and_counted_once() {
    let good = unpacked("plain.data");
    let without = |kind: u32| {
        let all = records(&good).into_iter().filter(|(found, _)| *found == kind);
        import_bytes(&all.fold(good.clone(), |bytes, (_, at)| changed(&bytes, at, &[3]))).unwrap().1
    };
    // As `perf report -D` prints them.
    let in_place = [
        (54_276_961_904_087, 0, 163),
        (54_276_963_490_916, 1, 7),
        (54_276_966_910_560, 1, 750),
        (54_276_967_455_219, 1, 456),
    ];
    assert_eq!(losses(&import_bytes(&good).unwrap().1), in_place);
    assert_eq!(losses(&without(13)), in_place);
    let at_end = without(2);
    let last = at_end.events.last().unwrap().time_ns;
    assert_eq!(losses(&at_end), [(last, 0, 163), (last, 1, 1213)]);
}

/// The place of a number in the header, and what it says.
fn header(bytes: &[u8], at: usize) -> usize {
    u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap()) as usize
}

/// Returns the bytes with `new` at `at`.
fn changed(bytes: &[u8], at: usize, new: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[at..at + new.len()].copy_from_slice(new);
    bytes
}

/// Where a row of bytes is.
fn find(bytes: &[u8], wanted: &[u8]) -> usize {
    bytes.windows(wanted.len()).position(|window| window == wanted).unwrap()
}

/// Returns kind and place of each record.
fn records(bytes: &[u8]) -> Vec<(u32, usize)> {
    let (mut at, size) = (header(bytes, 40), header(bytes, 48));
    let (mut records, end) = (Vec::new(), at + size);
    while at < end {
        records.push((u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()), at));
        at += usize::from(u16::from_le_bytes(bytes[at + 6..at + 8].try_into().unwrap()));
    }
    records
}

#[test]
fn files_that_cannot_be_imported_say_why() {
    let good = unpacked("plain.data");
    let attributes = header(&good, 24);
    for length in [200, good.len() / 2, good.len() - 1] {
        let error = wrong(&good[..length]);
        assert!(matches!(error, PerfDataError::CutOff { bytes, .. } if bytes == length as u64), "{error}");
    }
    assert!(matches!(wrong(&good[..50]), PerfDataError::Damaged { what: "the header", .. }));
    assert_eq!(wrong(&changed(&good, 48, &[0; 8])), PerfDataError::Unfinished);
    assert_eq!(wrong(&changed(&good, 0, b"2ELIFREP")), PerfDataError::OtherByteOrder);
    let zstd = zstd::encode_all(&good[..], 1).unwrap();
    assert_eq!(wrong(&zstd), PerfDataError::Packed);
    let group = find(&good, b"kmem\0");
    assert_eq!(wrong(&changed(&good, group, b"kmex")), PerfDataError::NoPageEvents);
    let spread = good[75] | 1;
    assert_eq!(wrong(&changed(&good, 75, &[spread])), PerfDataError::Spread);
    let event = "mm_page_alloc".to_owned();
    let sampled = |how: &str| PerfDataError::Sampled { event: event.clone(), how: how.to_owned() };
    assert_eq!(wrong(&changed(&good, attributes + 16, &[7])), sampled("one of 7"));
    let frequency = good[attributes + 41] | 4;
    assert_eq!(wrong(&changed(&good, attributes + 41, &[frequency])), sampled("1 a second"));
    let backward = good[attributes + 43] | 8;
    assert_eq!(wrong(&changed(&good, attributes + 43, &[backward])), sampled("the last ones"));
    assert_eq!(wrong(&changed(&good, attributes + 16, &[0])), sampled("where another event was sampled"));
    let each = header(&good, 16);
    let again = &good[attributes + 8..attributes + 16];
    assert_eq!(
        wrong(&changed(&good, attributes + each + 8, again)),
        PerfDataError::Twice { event: event.clone() }
    );
    let others = (0..header(&good, 32) / each)
        .map(|number| changed(&good, attributes + number * each + 8, &[0xff; 8]));
    let missing: Vec<_> = others
        .filter_map(|bytes| match import_bytes(&bytes) {
            Err(Error::PerfData { source: PerfDataError::Missing { event }, .. }) => Some(event),
            _ => None,
        })
        .collect();
    assert_eq!(missing, ["mm_page_alloc", "mm_page_free"]);
    let index = records(&good).iter().find(|(kind, _)| *kind == 69).unwrap().1;
    assert_eq!(wrong(&changed(&good, index + 40, &[1, 0, 0, 0, 0, 0, 0, 0])), PerfDataError::SomeTasks);
    let without_cpu = good[attributes + 24] & !0x80;
    let lacks = PerfDataError::Lacks { event, part: "CPU" };
    assert_eq!(wrong(&changed(&good, attributes + 24, &[without_cpu])), lacks);
    let records = records(&good);
    let last = records.iter().rfind(|(kind, _)| *kind == 9).unwrap().1;
    assert!(
        matches!(wrong(&changed(&good, last + 32, &[0; 8])), PerfDataError::TimeBackwards { at, .. } if at == last as u64)
    );
    let empty = changed(&good, last + 6, &[0, 0]);
    assert_eq!(wrong(&empty), PerfDataError::Damaged { what: "the record", at: last as u64 });
    let pipe = unpacked("pipe.data");
    let error = wrong(&pipe[..pipe.len() - 9]);
    assert!(matches!(error, PerfDataError::CutOff { .. }), "{error}");
    let packed = unpacked("packed.data");
    let first = self::records(&packed).iter().find(|(kind, _)| *kind == 81).unwrap().1;
    let damaged = PerfDataError::Damaged { what: "the record", at: first as u64 };
    assert_eq!(wrong(&changed(&packed, first + 8, &[0; 4])), damaged);
    let none: Vec<u8> = records
        .iter()
        .filter(|(kind, _)| *kind == 9)
        .fold(good.clone(), |bytes, (_, at)| changed(&bytes, *at, &[3]));
    assert_eq!(wrong(&none), PerfDataError::NoEvents { records: records.len() as u64 });
}

#[test]
fn a_whole_file_through_a_pipe_is_refused_and_a_pipes_is_read() {
    use std::io::Write;
    use std::os::fd::AsRawFd;
    for (name, is_read) in [("pipe", true), ("plain", false)] {
        let (reader, mut writer) = std::io::pipe().unwrap();
        let bytes = unpacked(&format!("{name}.data"));
        let writing = std::thread::spawn(move || {
            // The reader may leave before the end.
            let _ = writer.write_all(&bytes);
        });
        let path = PathBuf::from(format!("/proc/self/fd/{}", reader.as_raw_fd()));
        let imported = import_from(&path, &fixture(""));
        drop(reader);
        writing.join().unwrap();
        match imported {
            Ok(_) => assert!(is_read),
            Err(Error::PerfData { source, .. }) => {
                assert!(!is_read && source == PerfDataError::NotAFile, "{source}");
            }
            Err(other) => panic!("{other}"),
        }
    }
}

#[test]
fn no_file_makes_the_reader_panic() {
    let mut random = random(0x5eed_0009);
    let mut next = move || random.usize(..);
    let numbers = [0, 1, 7, 8, 0xff, 0xffff, 1 << 31, 1 << 40, u64::MAX >> 1, u64::MAX - 7, u64::MAX];
    let rounds = std::env::var("FREEHOLD_FLIPS").map_or(150, |rounds| rounds.parse().unwrap());
    let (mut refused, mut read) = (0, 0);
    for (name, _) in SAMPLES {
        let original = unpacked(&format!("{name}.data"));
        let (data, size) =
            if name == "pipe" { (0, 0) } else { (header(&original, 40), header(&original, 48)) };
        for _ in 0..rounds {
            let mut bytes = original.clone();
            for _ in 0..=next() % 4 {
                // Half of the places are in what is believed most: the header, the tables, the first records.
                let at = match next() % 6 {
                    0 => next() % 128,
                    1 => next() % 3000,
                    2 => data + size + next() % 300,
                    _ => next() % bytes.len(),
                };
                let at = at.min(bytes.len() - 9);
                match next() % 4 {
                    0 => bytes[at] = next() as u8,
                    1 => bytes[at] ^= 1 << (next() % 8),
                    2 => bytes[at..at + 8].copy_from_slice(&numbers[next() % numbers.len()].to_le_bytes()),
                    _ if next() % 4 == 0 => bytes.truncate(at + 9),
                    _ => drop(bytes.drain(at..(at + next() % 40).min(bytes.len() - 9))),
                }
            }
            match import_bytes(&bytes) {
                Ok(_) => read += 1,
                Err(error) => {
                    refused += 1;
                    assert!(!error.to_string().is_empty());
                }
            }
        }
    }
    println!("{refused} refused, {read} read");
    assert!(refused > 0 && read > 0);
}
