//! The output of `freehold blame` for memory that is fragmented during its watch.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Duration;

use serde_json::Value;

use crate::fragment::PinnedMemory;

/// The slab cache that planted inodes are of.
const INODES: &str = "shmem_inode_cache";

/// Free inodes that do not matter: of some hundred pages.
const FEW: usize = 1024;

/// How often they are taken at most: others free some meanwhile.
const TAKES: u32 = 20;

/// How long inodes of removed files may take to be free by the kernel's account.
const FREED: Duration = Duration::from_millis(100);

/// Takes the free objects of half-empty slabs, so that inodes planted after it take pages of their own.
fn without_free_inodes() -> std::io::Result<PinnedMemory> {
    let folder = tempfile::Builder::new().tempdir_in("/dev/shm")?;
    let mut files = 0;
    for _ in 0..TAKES {
        sleep(FREED);
        let free = free_objects(INODES);
        if free < FEW {
            break;
        }
        for file in files..files + free {
            fs::File::create(folder.path().join(file.to_string()))?;
        }
        files += free;
    }
    Ok(vec![Box::new(folder)])
}

/// Returns how many objects in slabs of a cache are free; 0 where the kernel does not tell.
fn free_objects(cache: &str) -> usize {
    let slabs = fs::read_to_string("/proc/slabinfo").unwrap_or_default();
    let numbers = slabs.lines().find_map(|line| line.strip_prefix(cache)).unwrap_or_default();
    let mut numbers = numbers.split_whitespace().map_while(|word| word.parse::<usize>().ok());
    let (used, all) = (numbers.next().unwrap_or_default(), numbers.next().unwrap_or_default());
    all.saturating_sub(used)
}

/// Has `program` watch while `plant` runs. Returns what it says as JSON; what was planted goes afterwards.
pub(crate) fn blamed(
    program: &Path,
    place: &Path,
    plant: impl FnOnce() -> std::io::Result<PinnedMemory>,
) -> Result<Value, Box<dyn Error>> {
    let _inodes = without_free_inodes()?;
    let sign = place.join("watching");
    let script = format!("> {}; exec cat", sign.display());
    let mut watch = Command::new(program)
        .args(["blame", "--json", "--older", "0.01", "--", "sh", "-c", &script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    while !sign.exists() {
        if watch.try_wait()?.is_some() {
            return Err(String::from_utf8_lossy(&watch.wait_with_output()?.stderr).into());
        }
        sleep(Duration::from_millis(10));
    }
    fs::remove_file(sign)?;
    let unmovable = plant();
    // The command ends with its input.
    drop(watch.stdin.take());
    let said = watch.wait_with_output()?;
    drop(unmovable?);
    if !said.status.success() {
        return Err(String::from_utf8_lossy(&said.stderr).into());
    }
    Ok(serde_json::from_slice(&said.stdout)?)
}

/// Returns a row in words: what its pages are, and the code.
pub(crate) fn title(row: &Value) -> String {
    let text = |name: &str| row[name].as_str().unwrap_or_default();
    match text("code") {
        "" => text("what").to_owned(),
        code => format!("{}: {code}", text("what")),
    }
}

/// Returns the parts of titles by which the culprit of a way is known, and the least pages for each MiB that are the culprit's; none
/// for a way of movable memory only.
pub(crate) fn culprit(way: &str) -> (Vec<String>, f64) {
    let own = |how: &str| format!("({}), {how}", std::process::id());
    let (signs, kib): (Vec<String>, _) = match way {
        "slab-inodes" => (vec!["alloc_inode".into()], 32.0),
        "slab-mixed" => (vec!["alloc_inode".into()], 16.0),
        "pipes" => (vec!["pipe_write".into()], 32.0),
        "page-tables" => (vec!["pte_alloc".into()], 32.0),
        "hugetlb" => (vec!["hugetlb pages".into()], 128.0),
        "pinned-by-pipes" => (vec![own("referred to as by a pipe")], 12.0),
        "pinned-by-io-uring" => (vec![own("pinned as by io_uring")], 12.0),
        "mixed" => (vec!["alloc_inode".into(), "pipe_write".into()], 4.0),
        "mixed-shuffled" => (vec!["alloc_inode".into(), "pipe_write".into(), "pte_alloc".into()], 1.0),
        _ => (Vec::new(), 0.0),
    };
    (signs, kib * 1024.0 / crate::fragment::memory::page_bytes() as f64)
}

/// Returns the pages of the rows whose title has one of `signs` in it.
pub(crate) fn pages_of(json: &Value, signs: &[String]) -> u64 {
    let rows = json["rows"].as_array().into_iter().flatten();
    let of = rows.filter(|row| signs.iter().any(|sign| title(row).contains(sign.as_str())));
    of.filter_map(|row| row["pages"].as_u64()).sum()
}
