//! The property of the ftrace reader: it returns events or an error, and the times of events never decrease.

use std::path::Path;

use freehold_linux::ftrace_text::{TextOptions, read_text_events};

/// Checks the property for these bytes.
///
/// # Panics
/// If the property is violated.
pub fn body(bytes: &[u8]) {
    let mut text = bytes;
    let mut newest_ns = 0;
    let _ = read_text_events(Path::new("fuzz"), &mut text, &TextOptions::default(), &mut |event| {
        assert!(event.time_ns >= newest_ns);
        newest_ns = event.time_ns;
        Ok(())
    });
}
