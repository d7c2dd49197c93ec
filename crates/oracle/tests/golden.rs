//! Every kept transcript of every kernel, page by page.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use freehold_oracle::families::Family;
use freehold_oracle::{Golden, KernelVersion, Options, Verdict, check};

/// Every kept file, and the kernel whose folder it is in.
fn kept() -> Vec<(KernelVersion, PathBuf)> {
    let mut files = Vec::new();
    for kernel in KernelVersion::ALL {
        let folder = Golden::folder().join(kernel.name());
        let entries = fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
        files.extend(entries.map(|entry| (kernel, entry.expect("a readable folder").path())));
    }
    files.sort();
    files
}

#[test]
fn the_engine_answers_as_the_kernels_did() {
    let files = kept();
    let next = Mutex::new(files.iter());
    let failures = Mutex::new(Vec::new());
    std::thread::scope(|scope| {
        for _ in 0..std::thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let Some((kernel, path)) = next.lock().expect("no panic holds it").next() else { break };
                    if let Some(failure) = difference(*kernel, path) {
                        failures.lock().expect("no panic holds it").push(failure);
                    }
                }
            });
        }
    });
    let failures = failures.into_inner().expect("all threads are done");
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

fn difference(kernel: KernelVersion, path: &Path) -> Option<String> {
    let name = path.display();
    let mut golden = match Golden::open(path) {
        Ok(golden) => golden,
        Err(error) => return Some(format!("{name}: {error}")),
    };
    if golden.transcript.era().ok() != Some(kernel.era()) {
        return Some(format!("{name}: is of Linux {}", golden.transcript.release()));
    }
    let options = Options { check_every: Some(4096), ..Options::default() };
    match check(&golden.script, &mut golden.transcript, options) {
        Ok(Verdict::Same { .. }) => None,
        Ok(Verdict::Differs(divergence)) => {
            Some(format!("{name}: seed {}: {divergence}", golden.script.seed))
        }
        Err(error) => Some(format!("{name}: {error}")),
    }
}

#[test]
fn every_family_is_kept_for_every_kernel() {
    let files = kept();
    for kernel in KernelVersion::ALL {
        for family in Family::of(kernel) {
            let wanted = Golden::folder().join(kernel.name()).join(format!("{}.zst", family.name()));
            assert!(files.contains(&(kernel, wanted.clone())), "{} is missing", wanted.display());
        }
    }
}
