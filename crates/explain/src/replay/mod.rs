//! A judged report comes in; whether the engine refuses the request for the same reasons goes out.

mod check;
mod zone;

pub(crate) use check::Check;
