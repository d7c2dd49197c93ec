//! The NUMA nodes whose memory a process or a cgroup may use.

use std::collections::BTreeSet;
use std::path::Path;

use super::read::{REPORT, read_text, rows};
use crate::error::{Error, ParseError};

/// No kernel has more nodes (`MAX_NUMNODES`).
const MOST_NODES: u32 = 1 << 10;

/// The nodes whose memory a process may use.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ProcessNodes {
    /// The nodes.
    pub nodes: BTreeSet<u32>,
    /// Why memory policies are left out, where they could not be read.
    pub without_policies: Option<String>,
}

/// Reads the nodes that process `pid` below `root` may use: those of its cpuset, without those that the
/// memory policy of none of its mappings allows.
///
/// # Errors
/// If the process is gone, or its files do not parse. Policies that this user may not read are left out.
///
/// Linux counterpart: `cpuset_mems_allowed`, `get_vma_policy`.
pub fn nodes_of_process(root: &Path, pid: u32) -> Result<ProcessNodes, Error> {
    let folder = root.join("proc").join(pid.to_string());
    let status = folder.join("status");
    let allowed = mems_allowed(&read_text(&status)?).map_err(|e| e.in_file(&status, REPORT))?;
    let maps = folder.join("numa_maps");
    let text = match read_text(&maps) {
        Ok(text) => text,
        Err(error) => {
            let without_policies = Some(format!("memory policies of process {pid}: {error}"));
            return Ok(ProcessNodes { nodes: allowed, without_policies });
        }
    };
    let nodes = by_policies(&allowed, &text).map_err(|e| e.in_file(&maps, REPORT))?;
    Ok(ProcessNodes { nodes, without_policies: None })
}

/// Reads the nodes that processes of a cgroup may use. `cgroup` is its path below `sys/fs/cgroup`, or the
/// whole path.
///
/// # Errors
/// If there is no such cgroup, or none with a cpuset.
pub fn nodes_of_cgroup(root: &Path, cgroup: &Path) -> Result<BTreeSet<u32>, Error> {
    let inside = cgroup.strip_prefix("/sys/fs/cgroup").or_else(|_| cgroup.strip_prefix("/"));
    let folder = root.join("sys/fs/cgroup");
    let path = folder.join(inside.unwrap_or(cgroup)).join("cpuset.mems.effective");
    let text = read_text(&path)?;
    node_list(1, text.trim()).map_err(|e| e.in_file(&path, REPORT))
}

/// Returns the nodes of the row `Mems_allowed_list` of a process's status.
fn mems_allowed(status: &str) -> Result<BTreeSet<u32>, ParseError> {
    let mut all = rows(status)?;
    let row = all.find_map(|(line, row)| Some((line, row.strip_prefix("Mems_allowed_list:")?)));
    let (line, list) = row.ok_or_else(|| ParseError::new(0, "a row `Mems_allowed_list`", ""))?;
    node_list(line, list.trim())
}

/// Returns the nodes of `allowed` that the policy of at least one mapping leaves.
fn by_policies(allowed: &BTreeSet<u32>, numa_maps: &str) -> Result<BTreeSet<u32>, ParseError> {
    let mut left = BTreeSet::new();
    for (line, row) in rows(numa_maps)? {
        let policy = row.split_ascii_whitespace().nth(1).unwrap_or("");
        let (mode, nodes) = policy.split_once(':').unwrap_or((policy, ""));
        // Other modes only say where to look first. A mode may have flags: `bind=static`.
        if mode.split('=').next() != Some("bind") {
            return Ok(allowed.clone());
        }
        let bound = node_list(line, nodes)?;
        left.extend(bound.intersection(allowed).copied());
    }
    Ok(if left.is_empty() { allowed.clone() } else { left })
}

/// Parses a list of nodes such as `0-3,8`.
fn node_list(line: u64, text: &str) -> Result<BTreeSet<u32>, ParseError> {
    let wrong = || ParseError::new(line, "a list of nodes (`0-3,8`)", text);
    let mut nodes = BTreeSet::new();
    for range in text.split(',') {
        let (first, last) = range.split_once('-').unwrap_or((range, range));
        let (first, last): (u32, u32) =
            (first.parse().map_err(|_| wrong())?, last.parse().map_err(|_| wrong())?);
        if first > last || last >= MOST_NODES {
            return Err(wrong());
        }
        nodes.extend(first..=last);
    }
    Ok(nodes)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn set(nodes: &[u32]) -> BTreeSet<u32> {
        nodes.iter().copied().collect()
    }

    #[test]
    fn lists_of_nodes_are_bounded() {
        assert_eq!(node_list(1, "0-2,8").unwrap(), set(&[0, 1, 2, 8]));
        for wrong in ["", "0-", "3-1", "0-4294967295", "1024", "a", "0,,1"] {
            assert!(node_list(1, wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_process_has_the_nodes_of_its_cpuset_and_policies() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("proc/7");
        fs::create_dir_all(&folder).unwrap();
        assert!(nodes_of_process(root.path(), 7).is_err());
        fs::write(folder.join("status"), "Name:\tcat\nMems_allowed_list:\t0-2\n").unwrap();
        let unread = nodes_of_process(root.path(), 7).unwrap();
        assert!(unread.without_policies.is_some() && unread.nodes == set(&[0, 1, 2]));
        let with = |maps: &str| {
            fs::write(folder.join("numa_maps"), maps).unwrap();
            nodes_of_process(root.path(), 7).unwrap().nodes
        };
        assert_eq!(with("7f00 bind:1 anon=3 N1=3\n7f10 bind=static:2,5 stack\n"), set(&[1, 2]));
        assert_eq!(with("7f00 bind:1 anon=3\n7f10 default heap\n"), set(&[0, 1, 2]));
        for only_first in
            ["prefer:1", "interleave:0-1", "weighted interleave:0-1", "prefer (many):1", "local"]
        {
            assert_eq!(with(&format!("7f00 {only_first} anon=3\n")), set(&[0, 1, 2]), "{only_first}");
        }
        assert_eq!(with(""), set(&[0, 1, 2]));
        fs::write(folder.join("status"), "Name:\tcat\n").unwrap();
        assert!(nodes_of_process(root.path(), 7).unwrap_err().to_string().contains("Mems_allowed_list"));
    }

    #[test]
    fn a_cgroup_has_the_nodes_of_its_cpuset() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("sys/fs/cgroup/pods/web");
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join("cpuset.mems.effective"), "1\n").unwrap();
        for path in ["pods/web", "/pods/web", "/sys/fs/cgroup/pods/web"] {
            assert_eq!(nodes_of_cgroup(root.path(), Path::new(path)).unwrap(), set(&[1]), "{path}");
        }
        assert!(nodes_of_cgroup(root.path(), Path::new("pods")).is_err());
    }
}
