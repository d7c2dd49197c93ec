//! Reports of kernels, and what they must be explained by.
