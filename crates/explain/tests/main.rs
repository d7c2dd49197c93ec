//! Reports of kernels, and what they must be explained by.

mod kinds;
mod shared_cases;
