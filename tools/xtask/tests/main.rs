//! Tests of the workshop on what is in the repository.

mod live;
mod sandbox;
mod tidy;
mod traces;
