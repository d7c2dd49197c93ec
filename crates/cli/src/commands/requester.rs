//! Who requests blocks, as the machine and the option `--by` say, and whether as contiguous ranges.

use std::fs;
use std::path::Path;

use anyhow::anyhow;
use freehold::Order;
use freehold_linux::pageblocks::pageblock_order_with;
use freehold_linux::procfs::{pool_sizes, read_buddyinfo, read_free_lists};
use freehold_monitor::verdict::{Requester, SizeText};

use crate::args::By;
use crate::exit::{Cause, Failure};

/// Settings of transparent huge pages, below a root.
const THP: &str = "sys/kernel/mm/transparent_hugepage";

/// The pools of huge pages, below a root.
const POOLS: &str = "sys/kernel/mm/hugepages";

/// Why a request is not judged.
#[derive(Debug)]
pub(super) enum NotJudged {
    /// The kernel never serves it as the machine is set up; a sentence with the remedy.
    NeverServed(String),
    /// It cannot be judged.
    Failed(Failure),
}

impl From<NotJudged> for Failure {
    fn from(error: NotJudged) -> Self {
        match error {
            NotJudged::NeverServed(why) => refused(why),
            NotJudged::Failed(failure) => failure,
        }
    }
}

/// Returns whether the request is for contiguous ranges, and who requests blocks of this order.
pub(super) fn kind_of_request(
    named: Option<By>,
    order: u8,
    page_bytes: u64,
    root: &Path,
) -> Result<(bool, Requester), NotJudged> {
    let largest = largest_order(root).map_err(NotJudged::Failed)?;
    let by = requester(named, root, page_bytes << order).map_err(NotJudged::NeverServed)?;
    let size = |order: u8| SizeText(page_bytes << order).short();
    let pageblock = pageblock_order_with(root, Some(page_bytes));
    match (named, by) {
        (Some(By::Alloc | By::Atomic), _) if order > largest => Err(NotJudged::NeverServed(format!(
            "an allocation has at most {}, the largest block of the buddy allocator; --by range is for larger ones",
            size(largest)
        ))),
        (_, Requester::Range) if order < pageblock => Err(NotJudged::Failed(refused(format!(
            "--by range reads pageblocks, of {} here; request ranges of at least that",
            size(pageblock)
        )))),
        (_, Requester::Alloc) if order > largest => Ok((true, Requester::Range)),
        (_, by) => Ok((order > largest || by == Requester::Range, by)),
    }
}

/// Returns the order of the buddy allocator's largest block.
fn largest_order(root: &Path) -> Result<u8, Failure> {
    match read_buddyinfo(root) {
        Ok(zones) => Ok(zones.iter().map(|zone| zone.free.largest()).max().map_or(0, Order::get)),
        Err(error) => {
            let lists = read_free_lists(root).ok();
            let list = lists.as_ref().and_then(|lists| lists.zones.first()?.free.first());
            list.map(|list| list.largest().get()).ok_or_else(|| error.into())
        }
    }
}

/// Returns who requests blocks of so many bytes.
///
/// # Errors
/// If the machine has no pool and no transparent huge pages of this size, and the option names them; a sentence.
fn requester(by: Option<By>, root: &Path, block_bytes: u64) -> Result<Requester, String> {
    let pools = pool_sizes(root);
    let has_pool = pools.contains(&block_bytes);
    let huge = huge_page_bytes(root);
    match by {
        Some(By::Repair) => Ok(Requester::Repair),
        Some(By::Atomic) => Ok(Requester::Atomic),
        Some(By::Range) => Ok(Requester::Range),
        Some(By::Hugetlb) if has_pool || (pools.is_empty() && may_lack(root, POOLS)) => {
            Ok(Requester::Hugetlb)
        }
        Some(By::Hugetlb) if pools.is_empty() => {
            Err("--by hugetlb: this kernel has no pools of huge pages (CONFIG_HUGETLBFS)".to_owned())
        }
        Some(By::Hugetlb) => Err(format!("--by hugetlb: the pools here are of {}", sizes(&pools))),
        Some(By::Thp) if huge.is_some_and(|huge| huge != block_bytes) => Err(format!(
            "--by thp: transparent huge pages here are of {}",
            sizes(&[huge.unwrap_or_default()])
        )),
        Some(By::Thp) if huge.is_none() && !may_lack(root, THP) => {
            Err("--by thp: this kernel has no transparent huge pages (CONFIG_TRANSPARENT_HUGEPAGE)"
                .to_owned())
        }
        Some(By::Thp) => match switched_off(root, block_bytes) {
            Some(setting) => Err(format!(
                "--by thp: transparent huge pages are off here; write `madvise` to /{setting} first"
            )),
            None => Ok(faults(root)),
        },
        None if has_pool || (pools.is_empty() && huge.is_none_or(|huge| huge == block_bytes)) => {
            Ok(Requester::Hugetlb)
        }
        None if huge == Some(block_bytes) => Ok(faults(root)),
        Some(By::Alloc) | None => Ok(Requester::Alloc),
    }
}

/// Returns true if a folder may be missing although the machine has it: below a root that is a copy.
fn may_lack(root: &Path, folder: &str) -> bool {
    root != Path::new("/") && !root.join(folder).exists()
}

/// Returns the setting that switches transparent huge pages of so many bytes off, if one does.
///
/// Since Linux 6.8 each size has a setting of its own, which may inherit that for all.
fn switched_off(root: &Path, bytes: u64) -> Option<String> {
    let of_size = format!("{THP}/hugepages-{}kB/enabled", bytes >> 10);
    let of_all = format!("{THP}/enabled");
    let is = |setting: &str| chosen_in(&root.join(setting));
    let deciding = match is(&of_size).as_deref() {
        None | Some("inherit") => of_all,
        _ => of_size,
    };
    (is(&deciding).as_deref() == Some("never")).then_some(deciding)
}

/// Returns the size of a transparent huge page.
pub(super) fn huge_page_bytes(root: &Path) -> Option<u64> {
    setting(root, "hpage_pmd_size")?.parse().ok()
}

/// Returns how page faults request huge pages in memory that wants them.
fn faults(root: &Path) -> Requester {
    match chosen(root, "defrag").as_deref() {
        Some("defer" | "never") => Requester::ThpNoWait,
        _ => Requester::Thp,
    }
}

fn setting(root: &Path, name: &str) -> Option<String> {
    Some(fs::read_to_string(root.join(THP).join(name)).ok()?.trim().to_owned())
}

/// Returns the word of a setting of transparent huge pages that is in brackets.
fn chosen(root: &Path, name: &str) -> Option<String> {
    chosen_in(&root.join(THP).join(name))
}

fn chosen_in(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).ok()?;
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn sizes(bytes: &[u64]) -> String {
    bytes.iter().map(|&bytes| SizeText(bytes).short()).collect::<Vec<_>>().join(", ")
}

fn refused(message: String) -> Failure {
    Failure::new(Cause::Usage, anyhow!(message))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_machine_decides_who_can_request() {
        let root = tempfile::tempdir().unwrap();
        let by = |by, bytes| requester(by, root.path(), bytes);
        assert_eq!(by(None, 2 << 20), Ok(Requester::Hugetlb), "a copy without /sys");
        let thp = root.path().join(THP);
        fs::create_dir_all(&thp).unwrap();
        let write = |name: &str, text: &str| fs::write(thp.join(name), text).unwrap();
        write("hpage_pmd_size", "2097152\n");
        write("enabled", "always [madvise] never\n");
        write("defrag", "always defer defer+madvise [madvise] never\n");
        fs::create_dir_all(root.path().join("sys/kernel/mm/hugepages/hugepages-1048576kB")).unwrap();
        assert_eq!(by(None, 2 << 20), Ok(Requester::Thp), "no pool has this size");
        assert_eq!(by(None, 1 << 30), Ok(Requester::Hugetlb));
        assert_eq!(by(None, 64 << 10), Ok(Requester::Alloc));
        write("defrag", "always [defer] defer+madvise madvise never\n");
        assert_eq!(by(Some(By::Thp), 2 << 20), Ok(Requester::ThpNoWait));
        write("enabled", "always madvise [never]\n");
        assert!(by(Some(By::Thp), 2 << 20).unwrap_err().contains("transparent_hugepage/enabled first"));
        // The setting of the size decides, unless it inherits that of all.
        fs::create_dir_all(thp.join("hugepages-2048kB")).unwrap();
        let of_size = "hugepages-2048kB/enabled";
        write(of_size, "always inherit [madvise] never\n");
        assert_eq!(by(Some(By::Thp), 2 << 20), Ok(Requester::ThpNoWait));
        write(of_size, "always [inherit] madvise never\n");
        assert!(by(Some(By::Thp), 2 << 20).is_err());
        write("enabled", "always [madvise] never\n");
        write(of_size, "always inherit madvise [never]\n");
        assert!(by(Some(By::Thp), 2 << 20).unwrap_err().contains("/hugepages-2048kB/enabled first"));
        assert_eq!(by(Some(By::Hugetlb), 2 << 20).unwrap_err(), "--by hugetlb: the pools here are of 1G");
        assert!(by(Some(By::Thp), 64 << 10).unwrap_err().ends_with("are of 2M"));
    }
}
