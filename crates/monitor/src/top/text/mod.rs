//! Texts for a terminal: numbers and words come in, texts that fit into rows go out.

pub(super) mod ascii;
pub(super) mod numbers;
pub(super) mod rows;
