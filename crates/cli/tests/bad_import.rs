//! Texts and samples that cannot be imported: file, line and remedy, and nothing left behind.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::{self, Ran, fixture, folder, ftrace_text, import_args, names, run};

/// The first lines of a real text.
fn head(lines: usize) -> String {
    ftrace_text().lines().take(lines).collect::<Vec<_>>().join("\n") + "\n"
}

/// Imports `bytes` as a file `name`; nothing but that file may be left.
#[track_caller]
fn import(name: &str, bytes: &[u8]) -> Ran {
    let folder = folder();
    let text = folder.path().join(name);
    fs::write(&text, bytes).unwrap();
    let ran = run(import_args(&text, &folder.path().join("out.arrows")));
    if ran.code != Some(0) {
        assert_eq!(names(folder.path()), [name], "{}", ran.stderr);
    }
    ran
}

/// The place of the first event's line, from 0.
fn first_event(text: &str) -> usize {
    text.lines().position(|line| line.contains("mm_page_")).expect("an event")
}

#[test]
fn damaged_lines() {
    let good = head(300);
    let at = first_event(&good) + 100;
    let replaced = |new: &str| {
        let lines: Vec<_> =
            good.lines().enumerate().map(|(n, line)| if n == at { new } else { line }).collect();
        lines.join("\n") + "\n"
    };
    let line = good.lines().nth(at).unwrap();
    let number = format!("text.txt:{}", at + 1);
    let place = line.find("pfn=").expect("a frame number");
    let malformed = format!("{}pfn=what{}", &line[..place], &line[place + 4..]);
    import("text.txt", replaced(&malformed).as_bytes())
        .fails(65, &[&number, "pfn", "expected", "Remove the line"]);
    let order = line.replace("order=", "order=99");
    import("text.txt", replaced(&order).as_bytes()).fails(65, &[&number, "order"]);
    let huge = "x".repeat(100_000);
    import("text.txt", replaced(&huge).as_bytes()).fails(65, &[&number, "65536 bytes"]);
    let binary: Vec<u8> = (0..200_000_u32).map(|n| (n * 7 % 251) as u8 | 0x80).collect();
    import("text.txt", &binary).fails(65, &["text.txt:1", "Check that the file is a trace text"]);

    let first = good.lines().nth(first_event(&good)).unwrap();
    let back = good.clone() + &set_time(first, "0.000001") + "\n";
    import("text.txt", back.as_bytes()).fails(65, &["text.txt:301", "time goes back", "Sort the text"]);

    let outside =
        line[..place].to_owned() + "pfn=0x7fffffff0" + &line[place..][line[place..].find(' ').unwrap()..];
    import("text.txt", replaced(&outside).as_bytes())
        .fails(65, &["text.txt: ", "0x7fffffff0", "zoneinfo", "--pfn-radix"]);

    let cut = format!("{good}{}", &line[..place + 4]);
    let cut = import("text.txt", cut.as_bytes()).ok();
    assert!(cut.stderr.contains("ends in the middle of a line"), "{}", cut.stderr);
}

/// The line with another time.
fn set_time(line: &str, time: &str) -> String {
    let end = line.find(": mm_page").expect("an event");
    let start = line[..end].rfind(' ').expect("a time") + 1;
    format!("{}{time}{}", &line[..start], &line[end..])
}

#[test]
fn damaged_archives() {
    let packed = fs::read(fixture("trace.txt.xz")).unwrap();
    let archive = ["trace.txt.xz", "xz --test"];
    import("trace.txt.xz", &packed[..packed.len() / 2]).fails(65, &archive);
    import("trace.txt.xz", &packed[..packed.len() - 4]).fails(65, &archive);
    import("trace.txt.xz", &packed[..20]).fails(65, &archive);
    let mut garbage = packed.clone();
    garbage.extend(b"garbage behind the archive");
    import("trace.txt.xz", &garbage).fails(65, &archive);
    let mut damaged = packed;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 0xff;
    import("trace.txt.xz", &damaged).fails(65, &archive);
    let zst = zstd::encode_all(head(500).as_bytes(), 1).unwrap();
    import("trace.txt.zst", &zst[..zst.len() - 9]).fails(65, &["trace.txt.zst", "zstd --test"]);
    import("trace.txt.zst", &zst).ok();
    let gz = common::gzip(head(500).as_bytes());
    import("trace.txt.gz", &gz[..gz.len() - 9]).fails(65, &["trace.txt.gz", "gzip --test"]);
    import("trace.txt.gz", &[&gz[..], b"garbage"].concat()).fails(65, &["trace.txt.gz", "gzip --test"]);
    import("trace.txt.gz", &gz).ok();
}

/// A file of perf that is committed.
fn perf_data() -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../linux/tests/fixtures/perf/plain.data.xz");
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut liblzma::read::XzDecoder::new(fs::File::open(path).unwrap()), &mut bytes)
        .unwrap();
    bytes
}

#[test]
fn files_of_perf() {
    let good = perf_data();
    let ran = import("perf.data", &good).ok();
    let summary = "612 events from 1276 records of ";
    assert!(
        ran.stderr.contains(summary) && ran.stderr.contains("531 samples of other events, 1376 records lost"),
        "{}",
        ran.stderr
    );
    import("perf.data", &good[..good.len() / 2]).fails(65, &["perf.data: it ends at byte", "Copy it again"]);
    import("perf.data", &good[..20]).fails(65, &["perf.data: the header", "perf script"]);
    let packed = zstd::encode_all(&good[..], 1).unwrap();
    import("perf.data.zst", &packed).fails(65, &["perf.data.zst: it is a compressed perf.data", "Unpack it"]);
    let mut other = good;
    other[..8].reverse();
    import("perf.data", &other).fails(65, &["perf.data: its numbers", "byte order", "perf script"]);
}

#[test]
fn texts_without_events() {
    import("empty.txt", b"").fails(65, &["empty.txt", "no page events in 0 lines", "-e kmem"]);
    import("other.txt", b"a\nb\n").fails(65, &["other.txt", "no page events in 2 lines"]);
}

#[test]
fn swapped_files() {
    let folder = folder();
    let text = folder.path().join("text.txt");
    fs::write(&text, head(200)).unwrap();
    let text = text.display().to_string();
    let output = folder.path().join("out.arrows").display().to_string();
    let (zones, types) = (fixture("zoneinfo"), fixture("pagetypeinfo"));
    let missing = folder.path().join("missing").display().to_string();
    let sub = folder.path().display().to_string();
    let cases: [(&str, &str, &str, &[&str]); 7] = [
        (&text, &types, &zones, &["pagetypeinfo:", "whole copy"]),
        (&text, &zones, &zones, &["zoneinfo:", "whole copy"]),
        (&text, &text, &types, &["text.txt:", "whole copy"]),
        (&text, &missing, &types, &["missing", "Check the path"]),
        (&missing, &zones, &types, &["missing", "Check the path"]),
        (&text, &sub, &types, &["Name a file in it"]),
        (&sub, &zones, &types, &["Name a file in it"]),
    ];
    for (text, zoneinfo, pagetypeinfo, words) in cases {
        let args = ["import", text, "--zoneinfo", zoneinfo, "--pagetypeinfo", pagetypeinfo, "-o", &output];
        let is_unreadable = [text, zoneinfo].iter().any(|&path| *path == missing || *path == sub);
        run(args).fails(if is_unreadable { 66 } else { 65 }, words);
        assert_eq!(names(folder.path()), ["text.txt"]);
    }
    let mut args = import_args(Path::new(&text), Path::new(&output));
    args.extend(["--kpageflags".to_owned(), zones]);
    run(args).fails(65, &["zoneinfo:", "whole copy of /proc/kpageflags"]);
    assert_eq!(names(folder.path()), ["text.txt"]);
}

#[test]
fn failed_import_keeps_the_old_file() {
    let folder = folder();
    let [text, bad, output] = ["text.txt", "bad.txt", "out.arrows"].map(|name| folder.path().join(name));
    fs::write(&text, head(200)).unwrap();
    fs::write(&bad, head(200).replacen("pfn=0x", "pfn=zz", 1)).unwrap();
    fs::write(&output, "precious").unwrap();
    let forced = |text: &PathBuf| {
        let mut args = import_args(text, &output);
        args.push("--force".to_owned());
        run(args)
    };
    run(import_args(&text, &output)).fails(64, &["out.arrows exists", "--force"]);
    forced(&bad).fails(65, &["bad.txt:"]);
    assert_eq!(fs::read(&output).unwrap(), b"precious");
    assert_eq!(names(folder.path()), ["bad.txt", "out.arrows", "text.txt"]);

    // A link's goal is replaced, not the link; a device is written to.
    let link = folder.path().join("link.arrows");
    std::os::unix::fs::symlink(&output, &link).unwrap();
    let mut args = import_args(&text, &link);
    args.push("--force".to_owned());
    run(args).ok();
    assert!(link.is_symlink() && common::events(&output) > 0);
    let mut args = import_args(&text, Path::new("/dev/null"));
    args.push("--force".to_owned());
    run(args).ok();
    assert!(!fs::metadata("/dev/null").unwrap().is_file());
}
