//! The header of a trace: the Arrow schema with the format's version, its codes, origin and start snapshot.

use std::collections::BTreeMap;

use arrow_schema::{Field, Schema};
use freehold::{GfpFlags, Migratetype};

use super::column::Column;
use super::row_kind::RowKind;
use crate::model::{FrameUse, Origin, Snapshot};

/// The format version that this crate writes, and the newest version that it reads.
///
/// Older versions are still read. Version 2 has only orders 0 to 10. Version 1 also lacks the kinds from 9 on and the
/// column `obtained`.
pub const FORMAT_VERSION: u32 = 3;

/// Value of [`KEY_FORMAT`].
pub(crate) const FORMAT_NAME: &str = "freehold-trace";

pub(crate) const KEY_FORMAT: &str = "freehold.format";
pub(crate) const KEY_VERSION: &str = "freehold.version";
pub(crate) const KEY_ORIGIN: &str = "freehold.origin";
pub(crate) const KEY_START: &str = "freehold.start";
const KEY_KINDS: &str = "freehold.kinds";
const KEY_MIGRATETYPES: &str = "freehold.migratetypes";
const KEY_FRAME_USES: &str = "freehold.frame_uses";
pub(crate) const KEY_GFP_BITS: &str = "freehold.gfp_bits";

/// Returns the Arrow schema of a trace with its metadata.
pub(crate) fn schema(origin: &Origin, start: &Snapshot) -> Result<Schema, serde_json::Error> {
    let fields: Vec<_> =
        Column::ALL.iter().map(|c| Field::new(c.name(), c.data_type(), c.is_nullable())).collect();
    let kinds = RowKind::ALL.iter().map(|&(kind, name)| (kind as u8, name));
    let types = Migratetype::ALL.iter().map(|&t| (t as u8, t.name()));
    let uses = FrameUse::ALL.iter().map(|&u| (u as u8, frame_use_name(u)));
    let metadata = [
        (KEY_FORMAT, FORMAT_NAME.to_owned()),
        (KEY_VERSION, FORMAT_VERSION.to_string()),
        (KEY_KINDS, code_table(kinds)?),
        (KEY_MIGRATETYPES, code_table(types)?),
        (KEY_FRAME_USES, code_table(uses)?),
        (KEY_GFP_BITS, gfp_bits()?),
        (KEY_ORIGIN, serde_json::to_string(origin)?),
        (KEY_START, serde_json::to_string(start)?),
    ];
    let metadata = metadata.into_iter().map(|(key, value)| (key.to_owned(), value));
    Ok(Schema::new_with_metadata(fields, metadata.collect::<arrow_schema::Metadata>()))
}

/// Returns the names of the bits of GFP flags, by their numbers, as JSON.
pub(crate) fn gfp_bits() -> Result<String, serde_json::Error> {
    let bits = GfpFlags::all().iter_names().map(|(name, flag)| (flag.bits().trailing_zeros() as u8, name));
    code_table(bits)
}

fn code_table(codes: impl Iterator<Item = (u8, &'static str)>) -> Result<String, serde_json::Error> {
    serde_json::to_string(&codes.collect::<BTreeMap<_, _>>())
}

const fn frame_use_name(used_for: FrameUse) -> &'static str {
    match used_for {
        FrameUse::Absent => "absent",
        FrameUse::Free => "free",
        FrameUse::Movable => "movable",
        FrameUse::Slab => "slab",
        FrameUse::PageTable => "page_table",
        FrameUse::Hugetlb => "hugetlb",
        FrameUse::Unevictable => "unevictable",
        FrameUse::Offline => "offline",
        FrameUse::Other => "other",
    }
}
