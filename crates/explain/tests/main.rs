//! Reports of kernels, and what they must be explained by.

mod kinds;
mod rules;
mod shared_cases;
mod wrapped;
