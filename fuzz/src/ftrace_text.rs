//! Any bytes are a trace text or an error, and its events never go back in time.

use std::path::Path;

use freehold_linux::ftrace_text::{TextOptions, read_text_events};

/// Holds the property for these bytes.
///
/// # Panics
/// Where it does not hold.
pub fn body(bytes: &[u8]) {
    let mut text = bytes;
    let mut newest_ns = 0;
    let _ = read_text_events(Path::new("fuzz"), &mut text, &TextOptions::default(), &mut |event| {
        assert!(event.time_ns >= newest_ns);
        newest_ns = event.time_ns;
        Ok(())
    });
}
