//! Sets of nodes, as `0-3,8`.

/// A set of NUMA nodes.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct NodeSet(Vec<(u32, u32)>);

impl NodeSet {
    /// Reads a list at the start of a text. Returns `None` for `(null)` and for a list that is cut off.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let end = text.find(|c: char| !matches!(c, '0'..='9' | '-' | ',')).unwrap_or(text.len());
        let list = text[..end].trim_end_matches(',');
        let range = |part: &str| {
            let (first, last) = part.split_once('-').unwrap_or((part, part));
            Some((first.parse().ok()?, last.parse().ok()?))
        };
        let ranges: Option<Vec<_>> = list.split(',').map(range).collect();
        ranges.map(Self)
    }

    pub(crate) fn contains(&self, node: u32) -> bool {
        self.0.iter().any(|&(first, last)| (first..=last).contains(&node))
    }

    /// Returns the list as the kernel prints it.
    pub(crate) fn text(&self) -> String {
        let range = |&(first, last): &(u32, u32)| {
            if first == last { first.to_string() } else { format!("{first}-{last}") }
        };
        self.0.iter().map(range).collect::<Vec<_>>().join(",")
    }

    /// Returns the number of nodes in the set.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|&(first, last)| u64::from(last.saturating_sub(first)) + 1).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read() {
        let set = NodeSet::read("0-2,8,cpuset=/").unwrap();
        assert!(set.contains(1) && set.contains(8) && !set.contains(3));
        assert_eq!((set.text().as_str(), set.count()), ("0-2,8", 4));
        for cut in ["(null)", "0-", "", "-1", "99999999999"] {
            assert_eq!(NodeSet::read(cut), None, "{cut}");
        }
    }
}
