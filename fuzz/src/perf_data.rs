//! The property of the perf reader: it returns events or an error, and the times of events never decrease.

use std::io::{BufReader, Cursor};
use std::path::Path;

use freehold::{Migratetype, Order};
use freehold_linux::perf_data::{PerfData, PerfOptions};

/// Checks the property for these bytes.
///
/// # Panics
/// If the property is violated.
pub fn body(bytes: &[u8]) {
    let Ok(file) = PerfData::open(Path::new("fuzz"), BufReader::new(Cursor::new(bytes))) else { return };
    let options =
        PerfOptions { types: Migratetype::ALL.into_iter().collect(), largest: Order::MAX_PAGE_ORDER };
    let mut newest_ns = 0;
    let _ = file.read_events(&options, &mut |event| {
        assert!(event.time_ns >= newest_ns);
        newest_ns = event.time_ns;
        Ok(())
    });
}
