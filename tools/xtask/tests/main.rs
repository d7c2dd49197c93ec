//! Tests of cargo xtask on this repository.

mod live;
mod sandbox;
mod tidy;
mod traces;
