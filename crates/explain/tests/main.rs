//! Reports of kernels, and what they must be explained by.

mod cgroups;
mod kinds;
mod messages;
mod nodes;
mod oom;
mod rules;
mod shared_cases;
mod wrapped;
