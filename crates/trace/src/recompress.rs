//! Copies a trace with another compression.

use std::io::{Read, Write};

use crate::format::TraceError;
use crate::read::TraceReader;
use crate::write::{TraceWriter, WriteOptions};

/// Copies an opened trace; with [`WriteOptions::small`] as small as possible.
///
/// The copy holds the same events, snapshots and provenance in other batches. The copy of a trace that
/// was cut short is cut short, too.
///
/// # Errors
///
/// Those of reading and of writing; the copy is then incomplete.
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
