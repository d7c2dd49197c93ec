//! The first difference between a kernel and the engine.

use std::fmt;

use super::state_summary::StateSummary;
use crate::script::Step;
use crate::transcript::Word;

/// The first difference between a kernel and the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Divergence {
    /// The index of the operation, or the number of operations if the final states differ.
    pub operation: usize,
    /// The operation; `None` if states differ.
    pub step: Option<Step>,
    /// The kernel's words of the operation.
    pub kernel: Vec<Word>,
    /// The engine's words of the operation.
    pub engine: Vec<Word>,
    /// The kernel's and the engine's text, if they differ.
    pub texts: Option<(String, String)>,
    /// The state before the operation, if the script dumps it there. It is the same in the kernel and the engine.
    pub before: Option<Vec<Word>>,
    /// The kernel's and the engine's state after the operation, if the script dumps it there.
    pub after: Option<(Vec<Word>, Vec<Word>)>,
}

impl Divergence {
    /// Returns the index of the first word that differs, the kernel's word and the engine's word.
    pub fn first_difference(&self) -> (usize, Option<Word>, Option<Word>) {
        let at = self.kernel.iter().zip(&self.engine).take_while(|(kernel, engine)| kernel == engine).count();
        (at, self.kernel.get(at).copied(), self.engine.get(at).copied())
    }
}

/// Prints the words around the first difference, of both sides.
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
