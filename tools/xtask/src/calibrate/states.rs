//! The states of memory: a name, a machine, and the lines that make the state.

use crc32fast::hash;

/// The list of states.
const LIST: &str = include_str!("states.tsv");

/// One state of a guest's memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct State {
    pub(super) name: String,
    /// Release series of the guest's kernel.
    pub(super) kernel: String,
    pub(super) memory_mib: u32,
    pub(super) cpus: u32,
    /// The line of shell that makes the state.
    pub(super) recipe: String,
}

impl State {
    /// Returns true if the state is kept for proof: no number of a forecast may be chosen by what was served of it.
    pub(super) fn is_kept(&self) -> bool {
        hash(self.name.as_bytes()).is_multiple_of(3)
    }
}

/// Returns every state.
///
/// # Panics
/// If a row of the list is damaged.
pub(super) fn all() -> Vec<State> {
    let rows = LIST.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    rows.map(|line| {
        let cells: Vec<_> = line.split('\t').collect();
        let [name, kernel, memory, cpus, recipe] = cells[..] else { panic!("states.tsv: {line}") };
        let number = |text: &str| text.parse().unwrap_or_else(|_| panic!("states.tsv: {text} is no number"));
        State {
            name: name.to_owned(),
            kernel: kernel.to_owned(),
            memory_mib: number(memory),
            cpus: number(cpus),
            recipe: recipe.to_owned(),
        }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn names_are_unique_and_a_third_is_kept() {
        let states = all();
        let names: BTreeSet<_> = states.iter().map(|state| &state.name).collect();
        assert_eq!(names.len(), states.len());
        assert!(states.len() >= 200, "{}", states.len());
        let kept = states.iter().filter(|state| state.is_kept()).count();
        assert!((states.len() / 4..states.len() / 2).contains(&kept), "{kept} of {}", states.len());
    }
}
