//! Building: takes patches and a recipe, and makes a kernel in the cache.

mod config;
pub mod recipe;
mod tree;
pub mod variant;
pub mod workshop;
