//! Blocks that were served: one row a request.

use std::fmt::{self, Display, Formatter};

use super::requests::Requester;

/// A request and its result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) state: String,
    pub(super) kernel: String,
    pub(super) memory_mib: u32,
    pub(super) cpus: u32,
    /// Who requested: the value of the option `--by`.
    pub(super) by: String,
    pub(super) requested: u64,
    /// Blocks after each try; empty if the guest did not answer.
    pub(super) served: Vec<u64>,
}

/// The name of each column.
pub(super) const COLUMNS: &str = "state\tkernel\tmib\tcpus\tby\trequested\tserved";

impl Row {
    /// Reads a row.
    pub(super) fn parse(line: &str) -> Option<Self> {
        let cells: Vec<_> = line.split('\t').collect();
        let [state, kernel, mib, cpus, by, requested, served] = cells[..] else { return None };
        Some(Self {
            state: state.to_owned(),
            kernel: kernel.to_owned(),
            memory_mib: mib.parse().ok()?,
            cpus: cpus.parse().ok()?,
            by: by.to_owned(),
            requested: requested.parse().ok()?,
            served: served.split_whitespace().map(str::parse).collect::<Result<_, _>>().ok()?,
        })
    }

    /// Returns a row of this state and request with no result.
    pub(super) fn unanswered(state: &super::states::State, by: Requester, requested: u64) -> Self {
        Self {
            state: state.name.clone(),
            kernel: state.kernel.clone(),
            memory_mib: state.memory_mib,
            cpus: state.cpus,
            by: by.name().to_owned(),
            requested,
            served: Vec::new(),
        }
    }
}

impl Display for Row {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let served: Vec<_> = self.served.iter().map(u64::to_string).collect();
        let Self { state, kernel, memory_mib, cpus, by, requested, .. } = self;
        write!(f, "{state}\t{kernel}\t{memory_mib}\t{cpus}\t{by}\t{requested}\t{}", served.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_are_written() {
        let line = "pipes-120\t6.1\t512\t1\thugetlb\t90\t70 71 90";
        assert_eq!(Row::parse(line).unwrap().to_string(), line);
        assert!(Row::parse("pipes-120\t6.1\t512\t1\tthp\t90\t").unwrap().served.is_empty());
        assert_eq!(Row::parse("pipes-120\t6.1"), None);
    }
}
