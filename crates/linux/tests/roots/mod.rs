//! The fixture roots: what the tests that read them share.
#![allow(dead_code, reason = "the live program uses a part")]

use std::fs;
use std::path::{Path, PathBuf};

use freehold_linux::Error;
use freehold_linux::sample::{Sample, Sampler};
use freehold_linux::sensor::{Choice, Source};

/// The files that a sample is made of.
pub(crate) const FILES: [&str; 8] = [
    "proc/buddyinfo",
    "proc/pagetypeinfo",
    "proc/zoneinfo",
    "proc/vmstat",
    "proc/pressure/memory",
    "proc/meminfo",
    "proc/sys/kernel/osrelease",
    "sys/devices/system/cpu/online",
];

/// The folder of a fixture.
pub(crate) fn root(kernel: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(kernel)
}

/// The contents of a fixture's file.
pub(crate) fn file(kernel: &str, path: &str) -> String {
    fs::read_to_string(root(kernel).join(path)).unwrap()
}

/// A sampler of the texts below `root`.
pub(crate) fn sampler(root: &Path) -> Sampler {
    Sampler::open(root, Choice::Procfs).unwrap()
}

/// One sample of a fixture.
pub(crate) fn sample(kernel: &str) -> Sample {
    sampler(&root(kernel)).sample().unwrap()
}

/// A copy of a fixture that may be damaged, without its largest file.
pub(crate) fn copy(kernel: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    copy_into(&root(kernel), folder.path());
    folder
}

fn copy_into(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap().map(Result::unwrap) {
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy_into(&entry.path(), &target);
        } else if entry.file_name() != "kpageflags" {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// A generator with a seed, which is printed.
pub(crate) fn random(seed: u64) -> fastrand::Rng {
    println!("seed {seed:#x}");
    fastrand::Rng::with_seed(seed)
}

/// Two samples of a root, which take turns in their sources.
pub(crate) fn two_samples(root: &Path) -> Result<[Sample; 2], Error> {
    let mut sampler = Sampler::open(root, Choice::Procfs)?;
    Ok([sampler.sample()?, sampler.sample()?])
}

/// Checks that what the samples lack is what `damaged` holds, by the notes' own word.
pub(crate) fn only_that_is_missing(samples: &[Sample; 2], damaged: &str, how: &str) {
    for (sample, source) in samples.iter().zip([Source::Pagetypeinfo, Source::Buddyinfo]) {
        let at = format!("{damaged} {how}: {:?}", sample.notes);
        assert_eq!(sample.zones.is_empty(), damaged == "proc/zoneinfo", "{at}");
        assert_eq!(sample.counters.is_empty(), damaged == "proc/vmstat", "{at}");
        assert_eq!(sample.pressure.is_none(), damaged == "proc/pressure/memory", "{at}");
        let expected = match damaged {
            "proc/pagetypeinfo" => Source::Buddyinfo,
            "proc/buddyinfo" => Source::Pagetypeinfo,
            _ => source,
        };
        assert_eq!(sample.free.source, expected, "{at}");
        assert_eq!(sample.free.zones.len(), 3, "{at}");
        assert_eq!(sample.free.zones[0].by_type.is_none(), damaged == "proc/pagetypeinfo", "{at}");
        // Free blocks come from the other file then, and nothing is missing.
        let named = sample.notes.iter().any(|note| note.contains(damaged));
        assert!(named || damaged == "proc/buddyinfo", "{at}");
    }
}
