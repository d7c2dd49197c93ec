//! Copies a trace with another compression.

use std::io::{Read, Write};

use crate::format::TraceError;
use crate::read::TraceReader;
use crate::write::{TraceWriter, WriteOptions};

/// Copies an opened trace. With [`WriteOptions::small`] the copy is as small as possible.
///
/// The copy has the same events, snapshots and provenance in other batches. The copy of a trace that was cut short is
/// also cut short.
///
/// # Errors
///
/// Those of reading and of writing. After an error the copy is incomplete.
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
