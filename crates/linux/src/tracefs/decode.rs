//! Decodes the bytes of page events.

use freehold::{Migratetype, Order, Pfn};
use freehold_trace::{EventKind, KernelType, KernelTypes};

use super::decode_work::WorkFields;
use super::format::{EventFormat, Field, FormatError, parse_format};
use super::gfp_table::GfpTable;

/// A decoded event without its time and CPU.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct RawEvent {
    /// The task that caused it.
    pub pid: i32,
    /// What happened.
    pub kind: EventKind,
}

/// The outcome of decoding an event.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Decoded {
    /// A known event.
    Event(RawEvent),
    /// An event of an unknown kind.
    Foreign,
    /// A known event that is cut short, or whose order or migratetype is out of range.
    Unreadable,
}

/// Decodes the page events of one kernel.
#[derive(Clone, Debug)]
pub struct Decoder {
    common_type: Field,
    layouts: Vec<Layout>,
    gfp: GfpTable,
    /// Migratetypes by the kernel's number.
    types: Vec<Migratetype>,
    largest: Order,
}

/// Where one event's fields are.
#[derive(Clone, Debug)]
struct Layout {
    id: u64,
    pid: Field,
    contents: Contents,
}

/// The fields of an event besides its task.
#[derive(Clone, Debug)]
enum Contents {
    /// A block and what happened to it.
    Block(Box<BlockFields>),
    /// No field matters.
    Mark(EventKind),
    /// Pages that compaction, reclaim or isolation worked on.
    Work(Box<WorkFields>),
}

/// The fields of an event about a block.
#[derive(Clone, Debug)]
struct BlockFields {
    pfn: Field,
    order: Field,
    shape: Shape,
}

/// The fields that only some events have.
#[derive(Clone, Debug)]
enum Shape {
    Alloc {
        gfp: Field,
        migratetype: Field,
    },
    Free,
    ExtFrag {
        fallback_order: Field,
        migratetype: Field,
        fallback_migratetype: Field,
        change_ownership: Field,
    },
    ZoneLocked {
        migratetype: Field,
        percpu_refill: Option<Field>,
    },
    PcpuDrain {
        migratetype: Field,
    },
}

impl Decoder {
    /// Makes a decoder for the events in `formats` (name and contents of the `format` file).
    ///
    /// `types` is [`freehold_trace::PageTypeInfo::types`] of the same kernel, and `largest` its largest order.
    /// Pages of types that are none of Linux's are taken for movable ones.
    ///
    /// # Errors
    ///
    /// A field that an event needs is missing, or `mm_page_alloc` itself is.
    pub fn new(formats: &[(&str, String)], types: &KernelTypes, largest: Order) -> Result<Self, FormatError> {
        let mut layouts = Vec::new();
        let mut gfp = None;
        let mut common_type = None;
        for (name, text) in formats {
            let format = parse_format(text)?;
            if *name == "mm_page_alloc" {
                gfp = Some(GfpTable::from_print_fmt(&format.print_fmt)?);
            }
            common_type = Some(required(&format, name, "common_type")?);
            layouts.push(Layout::new(name, &format)?);
        }
        let missing = || FormatError("the format of mm_page_alloc is missing".to_owned());
        let types = types.iter().map(KernelType::nearest).collect();
        Ok(Self {
            common_type: common_type.ok_or_else(missing)?,
            layouts,
            gfp: gfp.ok_or_else(missing)?,
            types,
            largest,
        })
    }

    /// Decodes the bytes of an event record.
    pub fn decode(&self, event: &[u8]) -> Decoded {
        let Some(id) = self.common_type.read(event) else { return Decoded::Unreadable };
        let Some(layout) = self.layouts.iter().find(|l| l.id == id) else { return Decoded::Foreign };
        self.fields(layout, event).map_or(Decoded::Unreadable, Decoded::Event)
    }

    fn fields(&self, layout: &Layout, event: &[u8]) -> Option<RawEvent> {
        let pid = layout.pid.read(event)? as i32;
        let kind = match &layout.contents {
            Contents::Mark(kind) => *kind,
            Contents::Work(fields) => fields.read(event, &self.gfp, self.largest)?,
            Contents::Block(fields) => self.block(fields, event)?,
        };
        Some(RawEvent { pid, kind })
    }

    fn block(&self, fields: &BlockFields, event: &[u8]) -> Option<EventKind> {
        let raw_pfn = fields.pfn.read(event)?;
        let pfn = Pfn(raw_pfn);
        let order = self.order(&fields.order, event)?;
        Some(match &fields.shape {
            Shape::Alloc { gfp, migratetype } => EventKind::Alloc {
                pfn: (!fields.pfn.is_all_ones(raw_pfn)).then_some(pfn),
                order,
                migratetype: self.migratetype(migratetype, event)?,
                gfp: self.gfp.translate(gfp.read(event)?),
            },
            Shape::Free => EventKind::Free { pfn, order },
            Shape::ExtFrag { fallback_order, migratetype, fallback_migratetype, change_ownership } => {
                EventKind::ExtFrag {
                    pfn,
                    order,
                    fallback_order: self.order(fallback_order, event)?,
                    migratetype: self.migratetype(migratetype, event)?,
                    fallback_migratetype: self.migratetype(fallback_migratetype, event)?,
                    change_ownership: change_ownership.read(event)? != 0,
                }
            }
            Shape::ZoneLocked { migratetype, percpu_refill } => EventKind::ZoneLocked {
                pfn,
                order,
                migratetype: self.migratetype(migratetype, event)?,
                percpu_refill: match percpu_refill {
                    Some(field) => field.read(event)? != 0,
                    None => order == Order::ZERO,
                },
            },
            Shape::PcpuDrain { migratetype } => {
                EventKind::PcpuDrain { pfn, order, migratetype: self.migratetype(migratetype, event)? }
            }
        })
    }

    fn order(&self, field: &Field, event: &[u8]) -> Option<Order> {
        field.order(event, self.largest)
    }

    fn migratetype(&self, field: &Field, event: &[u8]) -> Option<Migratetype> {
        self.types.get(usize::try_from(field.read(event)?).ok()?).copied()
    }
}

impl Layout {
    fn new(name: &str, format: &EventFormat) -> Result<Self, FormatError> {
        let field = |wanted: &str| required(format, name, wanted);
        let (id, pid) = (u64::from(format.id), field("common_pid")?);
        let mark = match name {
            "mm_compaction_begin" => Some(EventKind::CompactionBegin),
            "mm_compaction_end" => Some(EventKind::CompactionEnd),
            _ => None,
        };
        if let Some(kind) = mark {
            return Ok(Self { id, pid, contents: Contents::Mark(kind) });
        }
        if let Some(fields) = WorkFields::new(name, format)? {
            return Ok(Self { id, pid, contents: Contents::Work(Box::new(fields)) });
        }
        let (order, shape) = match name {
            "mm_page_alloc" => {
                ("order", Shape::Alloc { gfp: field("gfp_flags")?, migratetype: field("migratetype")? })
            }
            "mm_page_free" => ("order", Shape::Free),
            "mm_page_alloc_extfrag" => (
                "alloc_order",
                Shape::ExtFrag {
                    fallback_order: field("fallback_order")?,
                    migratetype: field("alloc_migratetype")?,
                    fallback_migratetype: field("fallback_migratetype")?,
                    change_ownership: field("change_ownership")?,
                },
            ),
            "mm_page_alloc_zone_locked" => {
                // Kernels before 5.19 do not store this field: only order 0 went to the
                // lists.
                let percpu_refill = format.field("percpu_refill").cloned();
                ("order", Shape::ZoneLocked { migratetype: field("migratetype")?, percpu_refill })
            }
            "mm_page_pcpu_drain" => ("order", Shape::PcpuDrain { migratetype: field("migratetype")? }),
            _ => return Err(FormatError(format!("{name} is not an event that can be decoded"))),
        };
        let fields = BlockFields { pfn: field("pfn")?, order: field(order)?, shape };
        Ok(Self { id, pid, contents: Contents::Block(Box::new(fields)) })
    }
}

fn required(format: &EventFormat, event: &str, name: &str) -> Result<Field, FormatError> {
    format.field(name).cloned().ok_or_else(|| FormatError(format!("the format of {event} names no {name}")))
}
