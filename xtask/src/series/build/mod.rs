//! Building: in come patches and a recipe, out comes a kernel in the cache.

mod config;
pub mod recipe;
mod tree;
pub mod variant;
pub mod workshop;
