//! Reads the bytes of the events of callers.

use freehold::{GfpFlags, Order};

use super::event::CallerKind;
use crate::tracefs::{EventFormat, Field, FormatError, GfpTable, parse_format};

/// The bits of `common_flags` for work in an interrupt (`TRACE_FLAG_HARDIRQ`, `TRACE_FLAG_SOFTIRQ`).
const IN_INTERRUPT: u64 = 0x08 | 0x10;

/// The events that are watched: folder, name, and the field with the order that the kernel filters by.
///
/// The events without such a field mark the ends of work, and belong to requests of any order.
pub(super) const EVENTS: [(&str, &str, Option<&str>); 9] = [
    ("kmem", "mm_page_alloc", Some("order")),
    ("kmem", "mm_page_alloc_extfrag", Some("alloc_order")),
    ("compaction", "mm_compaction_try_to_compact_pages", Some("order")),
    ("compaction", "mm_compaction_begin", None),
    ("compaction", "mm_compaction_end", None),
    ("compaction", "mm_compaction_wakeup_kcompactd", Some("order")),
    ("vmscan", "mm_vmscan_direct_reclaim_begin", Some("order")),
    ("vmscan", "mm_vmscan_direct_reclaim_end", None),
    ("vmscan", "mm_vmscan_wakeup_kswapd", Some("order")),
];

/// The event of a kernel stack, which the option `stacktrace` writes behind each event.
pub(super) const STACK: &str = "kernel_stack";

/// An event without its time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Decoded {
    /// What a task did; without a task an interrupt did it.
    Event(Option<i32>, CallerKind),
    /// The addresses of a stack, innermost first.
    Stack(Vec<u64>),
    /// Of no watched kind.
    Foreign,
    /// Of a watched kind, and cut short.
    Unreadable,
}

/// Reads the events of one kernel.
#[derive(Debug)]
pub(super) struct Decoder {
    common_type: Field,
    layouts: Vec<Layout>,
    gfp: GfpTable,
}

#[derive(Debug)]
struct Layout {
    id: u64,
    pid: Field,
    flags: Field,
    contents: Contents,
}

#[derive(Debug)]
enum Contents {
    Request { pfn: Field, order: Field, gfp: Field },
    Fallback { change_ownership: Field },
    Mark(CallerKind),
    Stack { size: Field, caller: Field },
}

impl Decoder {
    /// Makes a decoder for the events in `formats`: name and contents of the `format` file.
    ///
    /// # Errors
    /// A field that an event needs is missing, or `mm_page_alloc` itself is.
    pub(super) fn new(formats: &[(&str, String)]) -> Result<Self, FormatError> {
        let (mut layouts, mut gfp, mut common_type) = (Vec::new(), None, None);
        for (name, text) in formats {
            let format = parse_format(text)?;
            if *name == "mm_page_alloc" {
                gfp = Some(GfpTable::from_print_fmt(&format.print_fmt)?);
            }
            common_type = Some(required(&format, name, "common_type")?);
            layouts.push(Layout {
                id: format.id.into(),
                pid: required(&format, name, "common_pid")?,
                flags: required(&format, name, "common_flags")?,
                contents: contents(name, &format)?,
            });
        }
        let missing = || FormatError("the format of mm_page_alloc is missing".to_owned());
        let common_type = common_type.ok_or_else(missing)?;
        Ok(Self { common_type, layouts, gfp: gfp.ok_or_else(missing)? })
    }

    /// Returns true if stacks can be read.
    pub(super) fn has_stacks(&self) -> bool {
        self.layouts.iter().any(|layout| matches!(layout.contents, Contents::Stack { .. }))
    }

    /// Reads the bytes of an event.
    pub(super) fn decode(&self, event: &[u8]) -> Decoded {
        let Some(id) = self.common_type.read(event) else { return Decoded::Unreadable };
        let Some(layout) = self.layouts.iter().find(|layout| layout.id == id) else {
            return Decoded::Foreign;
        };
        self.fields(layout, event).unwrap_or(Decoded::Unreadable)
    }

    fn fields(&self, layout: &Layout, event: &[u8]) -> Option<Decoded> {
        let kind = match &layout.contents {
            Contents::Stack { size, caller } => return stack(size, caller, event).map(Decoded::Stack),
            Contents::Mark(kind) => *kind,
            Contents::Fallback { change_ownership } => {
                CallerKind::Fallback { claimed: change_ownership.read(event)? != 0 }
            }
            Contents::Request { pfn, order, gfp } => CallerKind::Request {
                order: u8::try_from(order.read(event)?).ok().filter(|&order| order <= Order::MAX.get())?,
                gfp: self.flags(gfp.read(event)?),
                failed: pfn.is_all_ones(pfn.read(event)?),
                stack: None,
            },
        };
        let is_task = layout.flags.read(event)? & IN_INTERRUPT == 0;
        let pid = layout.pid.read(event)? as i32;
        Some(Decoded::Event(is_task.then_some(pid), kind))
    }

    fn flags(&self, raw: u64) -> GfpFlags {
        self.gfp.translate(raw)
    }
}

fn contents(name: &str, format: &EventFormat) -> Result<Contents, FormatError> {
    let field = |wanted: &str| required(format, name, wanted);
    Ok(match name {
        "mm_page_alloc" => {
            Contents::Request { pfn: field("pfn")?, order: field("order")?, gfp: field("gfp_flags")? }
        }
        "mm_page_alloc_extfrag" => Contents::Fallback { change_ownership: field("change_ownership")? },
        "mm_compaction_try_to_compact_pages" => Contents::Mark(CallerKind::Compaction),
        "mm_compaction_begin" => Contents::Mark(CallerKind::CompactionBegin),
        "mm_compaction_end" => Contents::Mark(CallerKind::CompactionEnd),
        "mm_compaction_wakeup_kcompactd" => Contents::Mark(CallerKind::KcompactdWake),
        "mm_vmscan_direct_reclaim_begin" => Contents::Mark(CallerKind::ReclaimBegin),
        "mm_vmscan_direct_reclaim_end" => Contents::Mark(CallerKind::ReclaimEnd),
        "mm_vmscan_wakeup_kswapd" => Contents::Mark(CallerKind::KswapdWake),
        STACK => Contents::Stack { size: field("size")?, caller: field("caller")? },
        _ => return Err(FormatError(format!("{name} is not an event of callers"))),
    })
}

fn required(format: &EventFormat, event: &str, name: &str) -> Result<Field, FormatError> {
    format.field(name).cloned().ok_or_else(|| FormatError(format!("the format of {event} names no {name}")))
}

/// Reads the addresses of a stack. In the format `caller` is an array of eight or of none, and in the event as long as `size` says.
fn stack(size: &Field, caller: &Field, event: &[u8]) -> Option<Vec<u64>> {
    /// No kernel stack is deeper.
    const MOST: u64 = 4096;
    let entries = size.read(event).filter(|&entries| entries <= MOST)?;
    let bytes = if caller.size == 0 { size_of::<usize>() } else { caller.size / 8 };
    let address = |at: u64| {
        let offset = caller.offset + at as usize * bytes;
        Field { name: String::new(), offset, size: bytes, signed: false }.read(event)
    };
    (0..entries).map(address).take_while(|address| *address != Some(0)).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    const COMMON: &str = "\tfield:unsigned short common_type;\toffset:0;\tsize:2;\tsigned:0;\n\
        \tfield:unsigned char common_flags;\toffset:2;\tsize:1;\tsigned:0;\n\
        \tfield:unsigned char common_preempt_count;\toffset:3;\tsize:1;\tsigned:0;\n\
        \tfield:int common_pid;\toffset:4;\tsize:4;\tsigned:1;\n";

    /// Formats as Linux 6.18 has them, without what is not read.
    fn formats() -> Vec<(&'static str, String)> {
        let format = |name, id: u16, rows: &str| (name, format!("name: {name}\nID: {id}\n{COMMON}{rows}"));
        vec![
            format(
                "mm_page_alloc",
                1,
                "\tfield:unsigned long pfn;\toffset:8;\tsize:8;\tsigned:0;\n\
                 \tfield:unsigned int order;\toffset:16;\tsize:4;\tsigned:0;\n\
                 \tfield:unsigned long gfp_flags;\toffset:24;\tsize:8;\tsigned:0;\n\
                 print fmt: \"%s\", __print_flags(REC->gfp_flags, \"|\", {( unsigned long)(( gfp_t)((((1UL))) << (10))), \"__GFP_DIRECT_RECLAIM\"})\n",
            ),
            format(
                "mm_vmscan_direct_reclaim_end",
                2,
                "\tfield:unsigned long nr_reclaimed;\toffset:8;\tsize:8;\tsigned:0;\n",
            ),
            format(
                STACK,
                4,
                "\tfield:int size;\toffset:8;\tsize:4;\tsigned:1;\n\
                 \tfield:unsigned long caller[8];\toffset:16;\tsize:64;\tsigned:0;\n",
            ),
        ]
    }

    pub(in crate::callers) fn decoder() -> Decoder {
        Decoder::new(&formats()).unwrap()
    }

    fn head(id: u16, flags: u8, pid: i32) -> Vec<u8> {
        let mut bytes = Vec::from(id.to_ne_bytes());
        bytes.extend([flags, 0]);
        bytes.extend(pid.to_ne_bytes());
        bytes
    }

    pub(in crate::callers) fn request(pid: i32, flags: u8, order: u32, pfn: u64) -> Vec<u8> {
        let mut bytes = head(1, flags, pid);
        bytes.extend(pfn.to_ne_bytes());
        bytes.extend(u64::from(order).to_ne_bytes());
        bytes.extend((1_u64 << 10).to_ne_bytes());
        bytes
    }

    pub(in crate::callers) fn stack_of(pid: i32, addresses: &[u64]) -> Vec<u8> {
        let mut bytes = head(4, 0, pid);
        bytes.extend((addresses.len() as u64).to_ne_bytes());
        bytes.extend(addresses.iter().flat_map(|address| address.to_ne_bytes()));
        bytes
    }

    #[test]
    fn requests_marks_and_stacks_are_read() {
        let decoder = decoder();
        assert!(decoder.has_stacks());
        let request_of =
            |order, failed| CallerKind::Request { order, gfp: GfpFlags::DIRECT_RECLAIM, failed, stack: None };
        assert_eq!(decoder.decode(&request(7, 0, 9, 512)), Decoded::Event(Some(7), request_of(9, false)));
        assert_eq!(
            decoder.decode(&request(7, 0x10, 3, u64::MAX)),
            Decoded::Event(None, request_of(3, true)),
            "a soft interrupt is not the task that it interrupts"
        );
        let mut end = head(2, 0, 8);
        end.extend(5_u64.to_ne_bytes());
        assert_eq!(decoder.decode(&end), Decoded::Event(Some(8), CallerKind::ReclaimEnd));
        assert_eq!(decoder.decode(&stack_of(7, &[5, 6])), Decoded::Stack(vec![5, 6]));
    }

    #[test]
    fn what_is_cut_short_or_unknown_is_told_apart() {
        let decoder = decoder();
        let whole = request(7, 0, 9, 512);
        for length in 0..whole.len() {
            assert_eq!(decoder.decode(&whole[..length]), Decoded::Unreadable, "{length} bytes");
        }
        let deep = stack_of(7, &[1; 8]);
        assert_eq!(decoder.decode(&deep[..deep.len() - 1]), Decoded::Unreadable);
        assert_eq!(decoder.decode(&head(99, 0, 1)), Decoded::Foreign);
        assert_eq!(decoder.decode(&request(7, 0, 200, 512)), Decoded::Unreadable, "no order is 200");
        assert!(Decoder::new(&formats()[1..]).is_err(), "without requests there is nothing to watch");
    }
}
