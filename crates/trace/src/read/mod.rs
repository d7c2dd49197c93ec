//! Reading: untrusted bytes come in; checked events go out.

mod decode;
mod header;
mod message;
mod reader;

pub use reader::{ReadOptions, TraceReader};
