//! The first difference between a kernel and the engine.

use std::fmt;

use super::state_summary::StateSummary;
use crate::script::Step;
use crate::transcript::Word;

/// The first difference between a kernel and the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// Which operation, from 0; the number of operations for the state at the end.
    pub operation: usize,
    /// The operation.
    pub step: Option<Step>,
    /// What the kernel wrote about it.
    pub kernel: Vec<Word>,
    /// What the engine would have written.
    pub engine: Vec<Word>,
    /// The texts, where they differ: the kernel's and the engine's.
    pub texts: Option<(String, String)>,
    /// The state before, which both have, if the script has it written out there.
    pub before: Option<Vec<Word>>,
    /// The states after, the kernel's and the engine's, if the script has them written out there.
    pub after: Option<(Vec<Word>, Vec<Word>)>,
}

impl Divergence {
    /// The first word that differs: its place, the kernel's and the engine's.
    pub fn first_difference(&self) -> (usize, Option<Word>, Option<Word>) {
        let at = self.kernel.iter().zip(&self.engine).take_while(|(kernel, engine)| kernel == engine).count();
        (at, self.kernel.get(at).copied(), self.engine.get(at).copied())
    }
}

/// The words around the first difference, and both sides of it.
impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.step {
            Some(step) => writeln!(f, "operation {}: {step}", self.operation)?,
            None => writeln!(f, "the state after {} operations", self.operation)?,
        }
        let (at, kernel, engine) = self.first_difference();
        let show = |word: Option<Word>| word.map_or("nothing more".to_owned(), |word| word.to_string());
        if kernel.is_some() || engine.is_some() {
            writeln!(f, "  word {at}: expected {}", show(kernel))?;
            writeln!(f, "  word {at}: got      {}", show(engine))?;
            for (side, words) in [("kernel", &self.kernel), ("engine", &self.engine)] {
                let from = at.saturating_sub(4);
                for (number, word) in words.iter().enumerate().skip(from).take(9) {
                    writeln!(f, "  {side} {number:>5} {word}")?;
                }
            }
        }
        if let Some(before) = &self.before {
            writeln!(f, "the state before, of both:\n{}", StateSummary(before))?;
        }
        if let Some((kernel, engine)) = &self.after {
            writeln!(f, "the kernel's state after:\n{}", StateSummary(kernel))?;
            writeln!(f, "the engine's state after:\n{}", StateSummary(engine))?;
        }
        if let Some((kernel, engine)) = &self.texts {
            writeln!(f, "the kernel printed\n{kernel}\nthe engine printed\n{engine}")?;
        }
        Ok(())
    }
}
