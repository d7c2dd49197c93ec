//! Building: patches and a recipe come in, a kernel in the cache goes out.

mod config;
pub mod recipe;
mod tree;
pub mod variant;
pub mod workshop;
