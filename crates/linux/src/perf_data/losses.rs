//! Records that perf did not get.

use std::collections::HashMap;

use super::bytes::Bytes;

/// What stands for every task in the place of one.
const ALL_TASKS: u64 = u64::MAX;

/// Counts the records that were lost on each CPU.
///
/// The kernel tells of losses in two ways: in place, as soon as there is room again, for all events of a CPU
/// together; and at the end, for each event of each CPU. The second count has what was lost last too.
#[derive(Clone, Debug, Default)]
pub(super) struct Losses {
    cpu_by_id: HashMap<u64, u16>,
    in_place: HashMap<u16, u64>,
    at_end: HashMap<u16, u64>,
}

impl Losses {
    /// Takes the record that says which identifier belongs to which CPU and task. Returns `None` if it is damaged, and
    /// true if every identifier is of all tasks.
    pub(super) fn index(&mut self, body: &[u8]) -> Option<bool> {
        let mut bytes = Bytes(body);
        let mut is_of_all = true;
        for _ in 0..bytes.u64()? {
            let (id, _, cpu) = (bytes.u64()?, bytes.u64()?, bytes.u64()?);
            is_of_all &= bytes.u64()? == ALL_TASKS;
            if let Ok(cpu) = u16::try_from(cpu) {
                self.cpu_by_id.insert(id, cpu);
            }
        }
        Some(is_of_all)
    }

    /// Returns the CPU of an identifier, 0 if it is unknown.
    pub(super) fn cpu_of(&self, id: Option<u64>) -> u16 {
        id.and_then(|id| self.cpu_by_id.get(&id)).copied().unwrap_or(0)
    }

    /// Adds a loss that was reported in its place.
    pub(super) fn add_in_place(&mut self, cpu: u16, count: u64) {
        add(&mut self.in_place, cpu, count);
    }

    /// Adds a loss that was reported at the end.
    pub(super) fn add_at_end(&mut self, cpu: u16, count: u64) {
        add(&mut self.at_end, cpu, count);
    }

    /// Returns, by CPU, what was reported at the end alone.
    pub(super) fn untraced(&self) -> Vec<(u16, u64)> {
        let reported = |cpu: &u16| self.in_place.get(cpu).copied().unwrap_or(0);
        let untraced = self.at_end.iter().map(|(cpu, count)| (*cpu, count.saturating_sub(reported(cpu))));
        let mut untraced: Vec<_> = untraced.filter(|(_, count)| *count > 0).collect();
        untraced.sort_unstable();
        untraced
    }
}

fn add(counts: &mut HashMap<u16, u64>, cpu: u16, count: u64) {
    let sum = counts.entry(cpu).or_default();
    *sum = sum.saturating_add(count);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_reported_twice_count_once() {
        let index: Vec<u8> =
            [2, 70, 0, 0, u64::MAX, 71, 1, 1, u64::MAX].iter().flat_map(|n: &u64| n.to_ne_bytes()).collect();
        let mut losses = Losses::default();
        assert_eq!(losses.index(&index[..index.len() - 1]), None);
        assert_eq!(losses.index(&index), Some(true));
        assert_eq!((losses.cpu_of(Some(71)), losses.cpu_of(Some(9)), losses.cpu_of(None)), (1, 0, 0));
        losses.add_in_place(0, 5);
        losses.add_in_place(1, 7);
        for count in [2, 3] {
            losses.add_at_end(0, count);
            losses.add_at_end(1, count * 4);
        }
        assert_eq!(losses.untraced(), [(1, 13)]);
    }
}
