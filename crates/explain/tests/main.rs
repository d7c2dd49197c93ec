//! Reports of kernels, and what they must be explained by.

mod shared_cases;
