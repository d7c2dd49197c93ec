//! Decodes the messages of a stream into columns, and checks everything.
//!
//! arrow-ipc returns the verified flatbuffers. Their buffers are decoded here, because arrow-ipc's general decoder
//! allocates any length that a compressed buffer claims. The columns of a trace have known lengths.

use std::io;
use std::ops::Range;

use arrow_ipc::{BodyCompressionMethod, CompressionType, Endianness, RecordBatch, Schema, Type};
use arrow_schema::DataType;
use zstd::bulk::Decompressor;

use crate::format::{COLUMNS, Column, MAX_BATCH_ROWS, MAX_NOTE_BYTES, Row, RowKind};
use crate::model::PageWork;

/// The most buffers of a record batch: validity and data of every column, and the note's offsets.
const BUFFERS: usize = 2 * COLUMNS + 1;
/// The most bytes of padding that another writer may add to a buffer.
const SLACK_BYTES: usize = 4096;

/// Checks that the file has the first `columns` columns of the format.
pub(super) fn check_schema(schema: Schema<'_>, columns: usize) -> Result<(), String> {
    if schema.endianness() != Endianness::Little {
        return Err("the columns are big-endian".to_owned());
    }
    let fields = schema.fields().ok_or("the schema has no columns")?;
    if fields.len() != columns {
        return Err(format!("{} columns instead of {columns}", fields.len()));
    }
    for (field, column) in fields.iter().zip(Column::ALL) {
        let name = field.name().unwrap_or_default();
        if name != column.name() {
            return Err(format!("column {name:.40?} in the place of {}", column.name()));
        }
        if field.dictionary().is_some() || !has_type(field, &column.data_type()) {
            return Err(format!("column {name} is not of type {}", column.data_type()));
        }
    }
    Ok(())
}

fn has_type(field: arrow_ipc::Field<'_>, wanted: &DataType) -> bool {
    let integer = field.type_as_int().map(|int| (int.bitWidth(), int.is_signed()));
    match wanted {
        DataType::UInt64 => integer == Some((64, false)),
        DataType::UInt32 => integer == Some((32, false)),
        DataType::UInt16 => integer == Some((16, false)),
        DataType::UInt8 => integer == Some((8, false)),
        DataType::Int32 => integer == Some((32, true)),
        DataType::Boolean => field.type_type() == Type::Bool,
        DataType::Utf8 => field.type_type() == Type::Utf8,
        _ => false,
    }
}

/// Returns the value of a key in the schema's metadata.
pub(super) fn metadata<'a>(schema: Schema<'a>, key: &str) -> Option<&'a str> {
    schema.custom_metadata()?.iter().find(|pair| pair.key() == Some(key))?.value()
}

/// A decoder of record batches into columns, which reuses its memory.
pub(super) struct Decoder {
    zstd: Decompressor<'static>,
    rows: usize,
    /// The number of columns in the file. These are the first columns of the format.
    present: usize,
    /// The little-endian values; empty for a column that no row of the batch uses.
    columns: [Vec<u8>; COLUMNS],
    /// The validity bitmap of the PFNs; empty if no PFN is null.
    pfn_validity: Vec<u8>,
}

impl Decoder {
    /// Returns a decoder for files with the first `present` columns.
    pub(super) fn new(present: usize) -> io::Result<Self> {
        let columns = std::array::from_fn(|_| Vec::new());
        Ok(Self { zstd: Decompressor::new()?, rows: 0, present, columns, pfn_validity: Vec::new() })
    }

    /// Decodes a record batch.
    pub(super) fn load(&mut self, batch: RecordBatch<'_>, body: &[u8]) -> Result<(), String> {
        let rows = usize::try_from(batch.length()).ok().filter(|&rows| rows <= MAX_BATCH_ROWS);
        self.rows = rows.ok_or_else(|| format!("{} rows in one record batch", batch.length()))?;
        let pfn_nulls = check_nodes(batch, self.present)?;
        let buffers = buffers(batch, body, self.present)?;
        let compressed = is_compressed(batch)?;
        let mut source = Source { zstd: &mut self.zstd, compressed };

        let kind = &mut self.columns[Column::Kind.index()];
        source.take(buffers[data_buffer(Column::Kind)], self.rows, kind)?;
        let used = used_columns(kind);
        for column in Column::ALL.into_iter().take(self.present) {
            let into = &mut self.columns[column.index()];
            match column.data_bytes(self.rows) {
                _ if column == Column::Kind => {}
                Some(bytes) if used[column.index()] => {
                    let taken = source.take(buffers[data_buffer(column)], bytes, into);
                    taken.map_err(|what| format!("column {}: {what}", column.name()))?;
                }
                _ => into.clear(),
            }
        }
        self.pfn_validity.clear();
        if pfn_nulls {
            let bytes = self.rows.div_ceil(8);
            let validity = buffers[data_buffer(Column::Pfn) - 1];
            source.take(validity, bytes, &mut self.pfn_validity)?;
        }
        if used[Column::Note.index()] {
            let note = last_note(&mut source, &buffers, self.rows)?;
            self.columns[Column::Note.index()] = note;
        }
        Ok(())
    }

    /// Returns the number of rows of the batch.
    pub(super) fn rows(&self) -> usize {
        self.rows
    }

    /// Returns the columns of the batch.
    pub(super) fn view(&self) -> View<'_> {
        let column = |column: Column| self.columns[column.index()].as_slice();
        View {
            rows: self.rows,
            time_ns: column(Column::TimeNs).as_chunks().0,
            cpu: column(Column::Cpu).as_chunks().0,
            kind: column(Column::Kind),
            pfn: column(Column::Pfn).as_chunks().0,
            pfn_validity: &self.pfn_validity,
            order: column(Column::Order),
            migratetype: column(Column::Migratetype),
            gfp: column(Column::Gfp).as_chunks().0,
            pid: column(Column::Pid).as_chunks().0,
            count: column(Column::Count).as_chunks().0,
            fallback_order: column(Column::FallbackOrder),
            fallback_migratetype: column(Column::FallbackMigratetype),
            change_ownership: column(Column::ChangeOwnership),
            percpu_refill: column(Column::PercpuRefill),
            frame_use: column(Column::FrameUse),
            obtained: column(Column::Obtained).as_chunks().0,
        }
    }

    /// Returns the note of the batch's last row. It is empty unless that row is the ending.
    pub(super) fn note(&self) -> &[u8] {
        &self.columns[Column::Note.index()]
    }
}

/// The columns of one record batch.
#[derive(Clone, Copy)]
pub(super) struct View<'a> {
    pub(super) rows: usize,
    time_ns: &'a [[u8; 8]],
    cpu: &'a [[u8; 2]],
    kind: &'a [u8],
    pfn: &'a [[u8; 8]],
    pfn_validity: &'a [u8],
    order: &'a [u8],
    migratetype: &'a [u8],
    gfp: &'a [[u8; 4]],
    pid: &'a [[u8; 4]],
    count: &'a [[u8; 8]],
    fallback_order: &'a [u8],
    fallback_migratetype: &'a [u8],
    change_ownership: &'a [u8],
    percpu_refill: &'a [u8],
    frame_use: &'a [u8],
    obtained: &'a [[u8; 8]],
}

impl View<'_> {
    /// Returns one row. Fields without a column are 0.
    #[inline]
    pub(crate) fn row(&self, i: usize) -> Row {
        Row {
            time_ns: u64::from_le_bytes(at(self.time_ns, i)),
            cpu: u16::from_le_bytes(at(self.cpu, i)),
            kind: at(self.kind, i),
            pfn: (self.pfn_validity.is_empty() || bit(self.pfn_validity, i))
                .then(|| u64::from_le_bytes(at(self.pfn, i))),
            order: at(self.order, i),
            migratetype: at(self.migratetype, i),
            gfp: u32::from_le_bytes(at(self.gfp, i)),
            pid: i32::from_le_bytes(at(self.pid, i)),
            count: u64::from_le_bytes(at(self.count, i)),
            fallback_order: at(self.fallback_order, i),
            fallback_migratetype: at(self.fallback_migratetype, i),
            change_ownership: bit(self.change_ownership, i),
            percpu_refill: bit(self.percpu_refill, i),
            frame_use: at(self.frame_use, i),
            obtained: u64::from_le_bytes(at(self.obtained, i)),
        }
    }
}

fn at<T: Copy + Default>(column: &[T], i: usize) -> T {
    column.get(i).copied().unwrap_or_default()
}

fn bit(bitmap: &[u8], i: usize) -> bool {
    at(bitmap, i / 8) >> (i % 8) & 1 == 1
}

/// Returns the index of a column's data buffer. The note's text has one more buffer, its offsets.
const fn data_buffer(column: Column) -> usize {
    let behind_the_note = column.index() > Column::Note.index();
    2 * column.index() + 1 + behind_the_note as usize
}

/// Returns, for each column, true if rows of these kinds use it.
fn used_columns(kinds: &[u8]) -> [bool; COLUMNS] {
    let mut seen = [false; 256];
    for &kind in kinds {
        seen[usize::from(kind)] = true;
    }
    let has = |kind: RowKind| seen[kind as usize];
    let mut used = [true; COLUMNS];
    let fallback = has(RowKind::ExtFrag);
    let work = PageWork::ALL.into_iter().any(|work| has(RowKind::of_work(work)));
    used[Column::Gfp.index()] = has(RowKind::Alloc) || has(RowKind::DirectReclaimBegin);
    used[Column::Count.index()] = has(RowKind::Lost) || has(RowKind::Occupancy) || work;
    used[Column::Obtained.index()] = work;
    used[Column::FallbackOrder.index()] = fallback;
    used[Column::FallbackMigratetype.index()] = fallback;
    used[Column::ChangeOwnership.index()] = fallback;
    used[Column::PercpuRefill.index()] = has(RowKind::ZoneLocked);
    used[Column::FrameUse.index()] = has(RowKind::Occupancy);
    used[Column::Note.index()] = has(RowKind::Ending);
    used
}

/// Checks the row and null counts. Returns true if some rows have no PFN.
fn check_nodes(batch: RecordBatch<'_>, columns: usize) -> Result<bool, String> {
    let nodes = batch.nodes().ok_or("a record batch without columns")?;
    if nodes.len() != columns {
        return Err(format!("a record batch with {} columns", nodes.len()));
    }
    let mut pfn_nulls = false;
    for (node, column) in nodes.iter().zip(Column::ALL) {
        let nulls = node.null_count();
        if node.length() != batch.length() {
            return Err(format!("column {} with {} rows", column.name(), node.length()));
        }
        if nulls != 0 && (!column.is_nullable() || !(0..=batch.length()).contains(&nulls)) {
            return Err(format!("column {} with {nulls} nulls", column.name()));
        }
        pfn_nulls |= column == Column::Pfn && nulls != 0;
    }
    Ok(pfn_nulls)
}

/// Returns the buffers of a record batch. Checks that each lies inside the body.
fn buffers<'a>(
    batch: RecordBatch<'_>,
    body: &'a [u8],
    columns: usize,
) -> Result<[&'a [u8]; BUFFERS], String> {
    let described = batch.buffers().ok_or("a record batch without buffers")?;
    if described.len() != 2 * columns + 1
        || batch.variadicBufferCounts().is_some_and(|counts| !counts.is_empty())
    {
        return Err(format!("a record batch with {} buffers", described.len()));
    }
    let mut buffers = [[].as_slice(); BUFFERS];
    for (buffer, into) in described.iter().zip(&mut buffers) {
        *into = range(buffer.offset(), buffer.length())
            .and_then(|range| body.get(range))
            .ok_or("a buffer that is not inside its record batch")?;
    }
    Ok(buffers)
}

fn range(offset: i64, length: i64) -> Option<Range<usize>> {
    let offset = usize::try_from(offset).ok()?;
    let end = offset.checked_add(usize::try_from(length).ok()?)?;
    Some(offset..end)
}

fn is_compressed(batch: RecordBatch<'_>) -> Result<bool, String> {
    let Some(compression) = batch.compression() else { return Ok(false) };
    if compression.codec() != CompressionType::ZSTD || compression.method() != BodyCompressionMethod::BUFFER {
        return Err("a compression other than zstd; write it with zstd or with none".to_owned());
    }
    Ok(true)
}

/// The source of a record batch's buffers.
struct Source<'a> {
    zstd: &'a mut Decompressor<'static>,
    compressed: bool,
}

impl Source<'_> {
    /// Decodes the first `bytes` bytes of a buffer into `into`.
    fn take(&mut self, buffer: &[u8], bytes: usize, into: &mut Vec<u8>) -> Result<(), String> {
        into.clear();
        if bytes == 0 {
            return Ok(());
        }
        let mut buffer = buffer;
        if self.compressed {
            let (prefix, data) = buffer.split_first_chunk().ok_or("a buffer without its length")?;
            let claimed = i64::from_le_bytes(*prefix);
            // -1 means that the buffer is not compressed.
            if claimed != -1 {
                let fits =
                    usize::try_from(claimed).ok().filter(|c| (bytes..=bytes + SLACK_BYTES).contains(c));
                let size = fits.ok_or_else(|| format!("a buffer of {claimed} bytes instead of {bytes}"))?;
                return self.inflate(data, size, into);
            }
            buffer = data;
        }
        into.extend_from_slice(buffer.get(..bytes).ok_or("a buffer that is too short")?);
        Ok(())
    }

    fn inflate(&mut self, data: &[u8], size: usize, into: &mut Vec<u8>) -> Result<(), String> {
        into.reserve(size);
        let inflated = self.zstd.decompress_to_buffer(data, into);
        inflated.map_err(|e| format!("zstd: {e}"))?;
        if into.len() == size { Ok(()) } else { Err(format!("{} bytes instead of {size}", into.len())) }
    }
}

/// Returns the note of the last row.
fn last_note(source: &mut Source<'_>, buffers: &[&[u8]; BUFFERS], rows: usize) -> Result<Vec<u8>, String> {
    let offsets_at = data_buffer(Column::Note);
    let mut offsets = Vec::new();
    source.take(buffers[offsets_at], (rows + 1) * 4, &mut offsets)?;
    let offset = |i: usize| {
        let bytes = offsets.as_chunks().0.get(i).copied();
        bytes.and_then(|bytes| usize::try_from(i32::from_le_bytes(bytes)).ok())
    };
    let (start, end) =
        rows.checked_sub(1).and_then(|last| Some((offset(last)?, offset(rows)?))).unwrap_or((0, 0));
    if start > end || end > MAX_NOTE_BYTES {
        return Err("a note that ends before it starts or is too long".to_owned());
    }
    let mut notes = Vec::new();
    source.take(buffers[offsets_at + 1], end, &mut notes)?;
    notes.drain(..start);
    Ok(notes)
}
