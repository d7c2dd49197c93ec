//! Roots that lack files or hold damaged ones: a named note or a named error, and never a wrong zone.

use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

use freehold_linux::ParseError;
use freehold_linux::procfs::{
    Occupancy, parse_buddyinfo, parse_pagetypeinfo, parse_pressure, parse_vmstat, parse_zoneinfo, snapshot,
};

use crate::roots::{FILES, copy, file, only_that_is_missing, random, two_samples};

#[test]
fn one_missing_file_is_missed_alone() {
    for missing in FILES {
        let folder = copy("linux-5.10-numa");
        fs::remove_file(folder.path().join(missing)).unwrap();
        only_that_is_missing(&two_samples(folder.path()).unwrap(), missing, "missing");
    }
}

#[test]
fn without_free_blocks_there_is_an_error() {
    let folder = copy("linux-7.3");
    fs::remove_file(folder.path().join("proc/buddyinfo")).unwrap();
    fs::remove_file(folder.path().join("proc/pagetypeinfo")).unwrap();
    let error = two_samples(folder.path()).unwrap_err().to_string();
    assert!(error.contains("proc/buddyinfo"), "{error}");
    let error = two_samples(&folder.path().join("no-such-root")).unwrap_err().to_string();
    assert!(error.contains("no-such-root/proc/buddyinfo") && error.contains("Check the path"), "{error}");
}

#[test]
fn one_damaged_file_is_missed_alone_or_an_error() {
    let not_text: &dyn Fn(&Path) = &|path| fs::write(path, b"Node 0, zone \xff\xfe\n").unwrap();
    let empty: &dyn Fn(&Path) = &|path| fs::write(path, "").unwrap();
    let noise: &dyn Fn(&Path) = &|path| fs::write(path, "what is this\n\0\0\n").unwrap();
    let a_folder: &dyn Fn(&Path) = &|path| {
        fs::remove_file(path).unwrap();
        fs::create_dir(path).unwrap();
    };
    // Opening it fails for everybody.
    let a_loop: &dyn Fn(&Path) = &|path| {
        fs::remove_file(path).unwrap();
        symlink(path, path).unwrap();
    };
    // Nobody writes to it: a reader that opens it waits for ever.
    let a_pipe: &dyn Fn(&Path) = &|path| {
        fs::remove_file(path).unwrap();
        assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
    };
    let ways = [
        ("not text", not_text),
        ("empty", empty),
        ("noise", noise),
        ("a folder", a_folder),
        ("a link to itself", a_loop),
        ("a pipe", a_pipe),
    ];
    for damaged in FILES {
        for (how, damage) in ways {
            // A release may be any text.
            if damaged.ends_with("osrelease") && how == "noise" {
                continue;
            }
            let folder = copy("linux-7.3-cma-numa");
            damage(&folder.path().join(damaged));
            match two_samples(folder.path()) {
                Ok(samples) => only_that_is_missing(&samples, damaged, how),
                Err(error) => assert!(error.to_string().contains(damaged), "{damaged} {how}: {error}"),
            }
        }
    }
}

/// Checks every beginning of a file, or `tries` random ones: an error, or a part of what the whole holds.
fn cut<T>(
    kernel: &str,
    name: &str,
    tries: usize,
    parse: fn(&str) -> Result<T, ParseError>,
    part: fn(&T, &T) -> bool,
) {
    let text = file(kernel, &format!("proc/{name}"));
    let whole = parse(&text).unwrap();
    assert!(part(&whole, &whole));
    let mut random = random(0x5eed_0011);
    let ends: Vec<_> = if tries == 0 {
        (0..text.len()).collect()
    } else {
        (0..tries).map(|_| random.usize(..text.len())).collect()
    };
    for end in ends {
        if let Ok(read) = parse(&text[..end]) {
            assert!(part(&read, &whole), "{kernel}: {name} cut at {end} reads as something else");
        }
    }
}

#[test]
fn a_cut_file_never_reads_as_something_else() {
    for kernel in ["linux-4.19", "linux-6.12-numa", "linux-6.1-capped", "linux-7.3-cma-numa"] {
        cut(kernel, "buddyinfo", 0, parse_buddyinfo, |read, whole| whole.starts_with(read));
        cut(kernel, "pagetypeinfo", 0, parse_pagetypeinfo, |read, whole| {
            whole.zones.starts_with(&read.zones)
                && (read.pageblock_order, &read.types) == (whole.pageblock_order, &whole.types)
        });
        cut(kernel, "zoneinfo", 300, parse_zoneinfo, |read, whole| whole.starts_with(read));
        cut(kernel, "vmstat", 300, parse_vmstat, |read, whole| {
            read.iter().all(|(name, count)| whole.get(name) == Some(count))
        });
    }
    cut("linux-5.10", "pressure/memory", 0, parse_pressure, |read, whole| read == whole);
}

#[test]
fn a_cut_file_in_a_root_is_named() {
    for damaged in FILES {
        let folder = copy("linux-6.12-numa");
        let path = folder.path().join(damaged);
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.trim_end()).unwrap();
        match two_samples(folder.path()) {
            Ok([first, _]) if damaged == "proc/buddyinfo" => panic!("{:?}", first.notes),
            Ok([first, _]) => {
                let named = first.notes.iter().any(|note| note.contains(damaged) && note.contains("cut"));
                assert!(named, "{damaged}: {:?}", first.notes);
            }
            Err(error) => assert!(error.to_string().contains(damaged), "{damaged}: {error}"),
        }
    }
}

#[test]
fn huge_numbers_and_noise_never_panic() {
    let mut random = random(0x5eed_0012);
    let huge = ["18446744073709551615", "18446744073709551616", "9223372036854775808", "4503599627370495"];
    let folder = copy("linux-7.3-cma-numa");
    let texts = FILES.map(|name| file("linux-7.3-cma-numa", name));
    for round in 0..400 {
        let at = round % FILES.len();
        let mut words: Vec<String> = texts[at].split(' ').map(str::to_owned).collect();
        for _ in 0..=random.usize(..6) {
            let word = random.usize(..words.len());
            if words[word].trim().parse::<u64>().is_ok() || random.u8(..8) == 0 {
                let end = if words[word].ends_with('\n') { "\n" } else { "" };
                words[word] = format!("{}{end}", huge[random.usize(..huge.len())]);
            }
        }
        let mut bytes = words.join(" ").into_bytes();
        if round % 2 == 0 {
            let place = random.usize(..bytes.len());
            bytes[place] = random.u8(..);
        }
        fs::write(folder.path().join(FILES[at]), bytes).unwrap();
        if let Ok(samples) = two_samples(folder.path()) {
            for zone in samples.iter().flat_map(|sample| &sample.free.zones) {
                assert!((0..11).all(|order| zone.blocks_from(order) <= zone.free_pages()));
            }
        }
        let _ = snapshot(folder.path(), Occupancy::Skip);
        fs::write(folder.path().join(FILES[at]), &texts[at]).unwrap();
    }
    assert!(two_samples(folder.path()).is_ok());
}
