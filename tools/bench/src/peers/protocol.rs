//! The protocol between a benchmark and a side in another process, in lines of text.
//!
//! The side's lines start with [`MARK`]; its other output is for people. Figures are integers in
//! thousandths, as a kernel has no floating-point numbers.

use std::time::Duration;

use super::shapes::{Figures, Plan, Shape};

/// The start of every line of a side.
pub(super) const MARK: &str = "= ";

/// The first line of a greeting, with the version of the protocol.
pub(super) const FIRST: &str = "side 1";

/// The last line of a greeting.
pub(super) const LAST: &str = "ready";

/// The request for a sample.
pub(super) const RUN: &str = "run";

/// The description that a side sends first.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Greeting {
    pub(super) name: String,
    /// Bytes of metadata per page; `None` if they depend on the free blocks.
    pub(super) bytes_per_page: Option<f64>,
    /// Notes for readers of its figures.
    pub(super) notes: Vec<String>,
}

impl Greeting {
    /// Returns the lines of the greeting, without their mark.
    pub(super) fn lines(&self) -> Vec<String> {
        let mut lines = vec![FIRST.to_owned(), format!("name {}", self.name)];
        lines.extend(self.bytes_per_page.map(|bytes| format!("metadata {:.0}", bytes * 1e3)));
        lines.extend(self.notes.iter().map(|note| format!("note {note}")));
        lines.push(LAST.to_owned());
        lines
    }

    /// Parses a line between the first and the last. Returns true if it belongs to a greeting.
    pub(super) fn add(&mut self, line: &str) -> bool {
        match line.split_once(' ') {
            Some(("name", name)) => name.clone_into(&mut self.name),
            Some(("metadata", bytes)) => match bytes.parse::<u64>() {
                Ok(bytes) => self.bytes_per_page = Some(bytes as f64 / 1e3),
                Err(_) => return false,
            },
            Some(("note", note)) => self.notes.push(note.to_owned()),
            _ => return false,
        }
        true
    }
}

/// Returns the line that requests the setup of a shape.
pub(super) fn prepare(shape: Shape, plan: Plan) -> String {
    format!("prepare {} {} {} {}", shape.word(), plan.pages, plan.times, plan.patience.as_nanos())
}

/// Parses a line of [`prepare`].
pub(super) fn parse_prepare(line: &str) -> Option<(Shape, Plan)> {
    let mut words = line.strip_prefix("prepare ")?.split(' ');
    let word = words.next()?;
    let shape = Shape::ALL.into_iter().find(|shape| shape.word() == word)?;
    let pages = words.next()?.parse().ok()?;
    let times = words.next()?.parse().ok()?;
    let patience = Duration::from_nanos(words.next()?.parse().ok()?);
    words.next().is_none().then_some((shape, Plan { pages, times, patience }))
}

/// Formats a sample and the digest of its work.
pub(super) fn figures(figures: &Figures, digest: u64) -> String {
    let [first, second, third] = figures.map(|figure| (figure * 1e3).round() as u64);
    format!("figures {first} {second} {third} {digest:016x}")
}

/// Parses a line of [`figures`].
pub(super) fn parse_figures(line: &str) -> Option<(Figures, u64)> {
    let mut words = line.strip_prefix("figures ")?.split(' ');
    let mut figures = Figures::default();
    for figure in &mut figures {
        *figure = words.next()?.parse::<u64>().ok()? as f64 / 1e3;
    }
    let digest = u64::from_str_radix(words.next()?, 16).ok()?;
    words.next().is_none().then_some((figures, digest))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Scale;

    #[test]
    fn greeting_round_trips() {
        let greeting = Greeting {
            name: "a stack, locked".into(),
            bytes_per_page: Some(0.25),
            notes: vec!["one note".into(), "another".into()],
        };
        let lines = greeting.lines();
        let mut read = Greeting::default();
        assert!(lines[1..lines.len() - 1].iter().all(|line| read.add(line)));
        assert_eq!(read, greeting);
        assert!(!read.add("metadata little") && !read.add("run"));
    }

    #[test]
    fn requests_and_figures_round_trip() {
        for shape in Shape::ALL {
            let (read, plan) = parse_prepare(&prepare(shape, Plan::new(Scale::Quick))).unwrap();
            assert_eq!((read, plan.pages), (shape, 1 << 18));
        }
        assert_eq!(parse_figures(&figures(&[1.5, 0.0, 99.25], 7)), Some(([1.5, 0.0, 99.25], 7)));
        for line in ["prepare", "prepare one-page 1 2", "prepare other 1 2 3", "prepare one-page 1 2 3 4"] {
            assert!(parse_prepare(line).is_none(), "{line}");
        }
        for line in ["figures 1 2 3", "figures 1 2 -3 0", "figures 1 2 3 0 0", "wrong"] {
            assert!(parse_figures(line).is_none(), "{line}");
        }
    }
}
