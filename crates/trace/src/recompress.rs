//! Writes a trace once more, smaller.

use std::io::{Read, Write};

use crate::format::TraceError;
use crate::read::TraceReader;
use crate::write::{TraceWriter, WriteOptions};

/// Copies a trace that was just opened; with [`WriteOptions::small`] as small as it gets.
///
/// The copy holds the same events, snapshots and provenance in other batches. A trace that
/// was cut short stays so.
///
/// # Errors
///
/// Those of reading and of writing; what has been written by then is incomplete.
pub fn recompress<R: Read, W: Write>(
    mut reader: TraceReader<R>,
    sink: W,
    options: WriteOptions,
) -> Result<W, TraceError> {
    let mut writer = TraceWriter::create(sink, options, reader.origin(), reader.start())?;
    while let Some(events) = reader.next_batch()? {
        for event in events {
            writer.push(event)?;
        }
    }
    match reader.ending() {
        Some(ending) => writer.finish(ending),
        None => writer.abandon(),
    }
}
