//! Parses the fields of page events from text.

use std::collections::HashMap;

use freehold::{GfpFlags, Migratetype, Order, Pfn};
use freehold_trace::{EventKind, KernelType, PageWork};

use super::line::{Head, digits};
use super::options::{PfnRadix, TextOptions};
use crate::tracefs::GfpTable;

/// The largest frame number with 64 bits of addresses.
const MAX_PFN: u64 = 1 << 52;
/// The most spellings of flag sets that are cached.
const MAX_CACHED: usize = 4096;

/// Parses fields, and caches the flag sets that it has seen.
pub(super) struct FieldReader {
    radix: PfnRadix,
    types: Vec<Migratetype>,
    largest: Order,
    gfp: HashMap<Vec<u8>, GfpFlags>,
    /// True if flags are numbers.
    has_numbers: bool,
    /// The names of their bits.
    bits: Option<GfpTable>,
    /// The names of the bits by the kernel's release.
    release_bits: Option<GfpTable>,
    /// How many flags were numbers without names.
    numbers: u64,
}

impl FieldReader {
    pub(super) fn new(options: &TextOptions) -> Self {
        let types = options.types.iter().map(KernelType::nearest).collect();
        Self {
            radix: options.pfn_radix,
            types,
            largest: options.largest,
            gfp: HashMap::new(),
            has_numbers: false,
            bits: None,
            release_bits: GfpTable::of_release(&options.kernel_release),
            numbers: 0,
        }
    }

    /// Reads flags as numbers from now on, whose bits [`FieldReader::name_bits`] has to name.
    pub(super) fn read_numbers(&mut self) {
        self.has_numbers = true;
    }

    /// Returns how many flags were numbers without names, and whether the release tells their bits.
    pub(super) fn numbers(&self) -> (u64, bool) {
        (self.numbers, self.release_bits.is_some())
    }

    /// Takes the names of the bits of flags from a format that is whole and has them.
    pub(super) fn name_bits(&mut self, print_fmt: &[u8]) {
        let whole =
            std::str::from_utf8(print_fmt).ok().filter(|format| format.trim_end().ends_with("\"none\""));
        if let Some(table) = whole.and_then(|format| GfpTable::from_print_fmt(format).ok()) {
            self.bits = Some(table);
        }
    }

    /// Parses an event's fields. The error says what was expected.
    pub(super) fn read(&mut self, head: &Head<'_>) -> Result<EventKind, String> {
        match head.event {
            b"mm_compaction_begin" => return Ok(EventKind::CompactionBegin),
            b"mm_compaction_end" => return Ok(EventKind::CompactionEnd),
            _ => {}
        }
        let fields = Fields::of(head.fields);
        if let Some(kind) = self.work(head.event, &fields)? {
            return Ok(kind);
        }
        let pfn = self.pfn(fields.get(b"pfn")?)?;
        match head.event {
            b"mm_page_alloc" => {
                let failed = pfn.0 == 0 && fields.find(b"page").is_none_or(is_null);
                Ok(EventKind::Alloc {
                    pfn: (!failed).then_some(pfn),
                    order: self.order(&fields, b"order")?,
                    migratetype: self.migratetype(&fields, b"migratetype")?,
                    gfp: self.flags(fields.get(b"gfp_flags")?)?,
                })
            }
            b"mm_page_free" | b"mm_page_free_direct" | b"mm_pagevec_free" => {
                Ok(EventKind::Free { pfn, order: self.order(&fields, b"order")? })
            }
            b"mm_page_alloc_extfrag" => Ok(EventKind::ExtFrag {
                pfn,
                order: self.order(&fields, b"alloc_order")?,
                fallback_order: self.order(&fields, b"fallback_order")?,
                migratetype: self.migratetype(&fields, b"alloc_migratetype")?,
                fallback_migratetype: self.migratetype(&fields, b"fallback_migratetype")?,
                change_ownership: fields.number(b"change_ownership")? != 0,
            }),
            b"mm_page_alloc_zone_locked" => {
                let order = self.order(&fields, b"order")?;
                let migratetype = self.migratetype(&fields, b"migratetype")?;
                let percpu_refill = match fields.find(b"percpu_refill") {
                    Some(_) => fields.number(b"percpu_refill")? != 0,
                    None => order == Order::ZERO,
                };
                Ok(EventKind::ZoneLocked { pfn, order, migratetype, percpu_refill })
            }
            _ => Ok(EventKind::PcpuDrain {
                pfn,
                order: self.order(&fields, b"order")?,
                migratetype: self.migratetype(&fields, b"migratetype")?,
            }),
        }
    }

    /// Parses an event of compaction, reclaim or isolation; returns `None` for other events.
    fn work(&mut self, event: &[u8], fields: &Fields<'_>) -> Result<Option<EventKind>, String> {
        let number = |name: &[u8]| fields.number(name);
        match event {
            b"mm_vmscan_direct_reclaim_begin" => {
                let gfp = self.flags(fields.get(b"gfp_flags")?)?;
                return Ok(Some(EventKind::DirectReclaimBegin { order: self.order(fields, b"order")?, gfp }));
            }
            b"mm_vmscan_kswapd_wake" => {
                return Ok(Some(EventKind::KswapdWake { order: self.order(fields, b"order")? }));
            }
            b"mm_vmscan_kswapd_sleep" => return Ok(Some(EventKind::KswapdSleep)),
            _ => {}
        }
        let Some(work) = PageWork::ALL.into_iter().find(|work| work.event().as_bytes() == event) else {
            return Ok(None);
        };
        let (pages, obtained) = match work {
            PageWork::IsolateMigratePages | PageWork::IsolateFreePages | PageWork::FastIsolateFreePages => {
                (number(b"nr_scanned")?, number(b"nr_taken")?)
            }
            PageWork::MigratePages => {
                let moved = number(b"nr_migrated")?;
                (moved.saturating_add(number(b"nr_failed")?), moved)
            }
            PageWork::DirectReclaim => (0, number(b"nr_reclaimed")?),
            PageWork::ShrinkInactive => (number(b"nr_scanned")?, number(b"nr_reclaimed")?),
            PageWork::TestIsolated => {
                let frame = |name: &[u8]| {
                    let text = fields.get(name)?;
                    let hex = text.strip_prefix(b"0x").and_then(hexadecimal);
                    hex.ok_or_else(|| format!("`{}=` with a frame number", String::from_utf8_lossy(name)))
                };
                let first = frame(b"start_pfn")?;
                let pages = frame(b"end_pfn")?.saturating_sub(first);
                (pages, frame(b"fin_pfn")?.saturating_sub(first).min(pages))
            }
            PageWork::CmaAlloc => {
                let failed = fields.find(b"errorno").is_some_and(|error| error != b"0");
                let pages = number(b"count")?;
                (pages, if failed { 0 } else { pages })
            }
            PageWork::CmaRelease => (number(b"count")?, number(b"count")?),
        };
        Ok(Some(EventKind::Work { work, pages, obtained }))
    }

    fn pfn(&mut self, text: &[u8]) -> Result<Pfn, String> {
        let wrong = || "`pfn=` with a frame number".to_owned();
        let value = if let Some(hex) = text.strip_prefix(b"0x") {
            hexadecimal(hex)
        } else {
            let decimal = digits(text).filter(|(_, rest)| rest.is_empty()).map(|(value, _)| value);
            match self.radix {
                PfnRadix::Hex => hexadecimal(text),
                PfnRadix::Decimal if decimal.is_none() && hexadecimal(text).is_some() => {
                    return Err(
                        "a decimal `pfn=` as before (if all are hexadecimal: `--pfn-radix hex`)".to_owned()
                    );
                }
                PfnRadix::Decimal => decimal,
                PfnRadix::Auto => {
                    self.radix = if decimal.is_some() { PfnRadix::Decimal } else { PfnRadix::Hex };
                    // A failed allocation prints 0, which shows no radix.
                    if decimal == Some(0) {
                        self.radix = PfnRadix::Auto;
                    }
                    decimal.or_else(|| hexadecimal(text))
                }
            }
        };
        value.filter(|&pfn| pfn < MAX_PFN).map(Pfn).ok_or_else(wrong)
    }

    fn migratetype(&self, fields: &Fields<'_>, name: &[u8]) -> Result<Migratetype, String> {
        let number = fields.number(name)?;
        usize::try_from(number).ok().and_then(|n| self.types.get(n)).copied().ok_or_else(|| {
            let name = String::from_utf8_lossy(name);
            format!("`{name}=` below {} (the rows of the machine's own pagetypeinfo)", self.types.len())
        })
    }

    fn order(&self, fields: &Fields<'_>, name: &[u8]) -> Result<Order, String> {
        let order = u8::try_from(fields.number(name)?).ok().and_then(Order::new);
        order.filter(|&order| order <= self.largest).ok_or_else(|| {
            format!(
                "`{}=` of at most {} (the orders of pagetypeinfo)",
                String::from_utf8_lossy(name),
                self.largest
            )
        })
    }

    fn flags(&mut self, text: &[u8]) -> Result<GfpFlags, String> {
        if !self.has_numbers
            && let Some(number) = text.strip_prefix(b"0x").and_then(hexadecimal).filter(|&n| n > 0)
        {
            self.numbers += 1;
            return Ok(self.release_bits.as_ref().map_or(GfpFlags::UNKNOWN, |bits| bits.translate(number)));
        }
        if let Some(&known) = self.gfp.get(text) {
            return Ok(known);
        }
        if self.has_numbers {
            let number =
                text.strip_prefix(b"0x").and_then(hexadecimal).ok_or("`gfp_flags=` with a number")?;
            let unnamed = "the whole description of mm_page_alloc (`print fmt: … \"none\"`) before the events, for which \
                           bpftrace may need BPFTRACE_MAX_CAT_BYTES=65536";
            return Ok(self.bits.as_ref().ok_or(unnamed)?.translate(number));
        }
        let names = std::str::from_utf8(text).map_err(|_| "`gfp_flags=` with names".to_owned())?;
        let flags = match names {
            "none" | "0" | "0x0" => GfpFlags::empty(),
            names => names
                .split('|')
                .map(|name| GfpFlags::from_linux_name(name).unwrap_or(GfpFlags::UNKNOWN))
                .fold(GfpFlags::empty(), GfpFlags::union),
        };
        if self.gfp.len() < MAX_CACHED {
            self.gfp.insert(text.to_owned(), flags);
        }
        Ok(flags)
    }
}

/// The words `NAME=VALUE`, at most twelve.
struct Fields<'a> {
    pairs: [(&'a [u8], &'a [u8]); 12],
    count: usize,
}

impl<'a> Fields<'a> {
    fn of(text: &'a [u8]) -> Self {
        let mut fields = Self { pairs: [(&[], &[]); 12], count: 0 };
        for word in text.split(|b| matches!(b, b' ' | b'\t')) {
            let Some(at) = memchr::memchr(b'=', word) else { continue };
            let Some(pair) = fields.pairs.get_mut(fields.count) else { break };
            *pair = (&word[..at], &word[at + 1..]);
            fields.count += 1;
        }
        fields
    }

    fn find(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.pairs[..self.count].iter().find(|(known, _)| *known == name).map(|&(_, value)| value)
    }

    fn get(&self, name: &[u8]) -> Result<&'a [u8], String> {
        self.find(name)
            .filter(|v| !v.is_empty())
            .ok_or_else(|| format!("a field `{}=`", String::from_utf8_lossy(name)))
    }

    fn number(&self, name: &[u8]) -> Result<u64, String> {
        match digits(self.get(name)?) {
            Some((value, [])) => Ok(value),
            _ => Err(format!("`{}=` with a number", String::from_utf8_lossy(name))),
        }
    }
}

/// Returns true if a `page=` is a null pointer: `(nil)`, `(null)`, `0000000000000000`, `0x0`.
fn is_null(page: &[u8]) -> bool {
    page == b"(nil)"
        || page == b"(null)"
        || page.strip_prefix(b"0x").unwrap_or(page).iter().all(|b| *b == b'0')
}

fn hexadecimal(text: &[u8]) -> Option<u64> {
    if text.is_empty() || text.len() > 16 {
        return None;
    }
    text.iter().try_fold(0_u64, |value, b| Some(value << 4 | u64::from((*b as char).to_digit(16)?)))
}
