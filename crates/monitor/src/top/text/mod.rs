//! Texts for a terminal: in come numbers and words, out come texts that fit into rows.

pub(super) mod ascii;
pub(super) mod numbers;
pub(super) mod rows;
