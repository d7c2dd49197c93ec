//! Reports of kernels, and what they must be explained by.

mod kinds;
mod messages;
mod rules;
mod shared_cases;
mod wrapped;
