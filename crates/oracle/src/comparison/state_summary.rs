//! Formats a zone's state for human readers.

use std::fmt;

use freehold::{Migratetype, Order};

use crate::transcript::Word;

/// The number of blocks shown from the head of each list.
const SHOWN: usize = 6;

/// Formats the words of a state. Each number and each list is one line.
#[derive(Clone, Copy, Debug)]
pub(super) struct StateSummary<'w>(pub(super) &'w [Word]);

impl StateSummary<'_> {
    fn blocks(&self, cpu: Option<u8>, order: Order, migratetype: Migratetype) -> Vec<u64> {
        let wanted = (cpu, order, migratetype);
        self.0
            .iter()
            .filter_map(|&word| match word {
                Word::Free { order, migratetype, pfn } if (None, order, migratetype) == wanted => Some(pfn.0),
                Word::PerCpu { cpu, order, migratetype, pfn, .. }
                    if (Some(cpu), order, migratetype) == wanted =>
                {
                    Some(pfn.0)
                }
                _ => None,
            })
            .collect()
    }

    fn lists(&self, f: &mut fmt::Formatter<'_>, cpu: Option<u8>) -> fmt::Result {
        for order in Order::ZERO.up_to(Order::MAX_PAGE_ORDER) {
            for migratetype in Migratetype::ALL {
                let blocks = self.blocks(cpu, order, migratetype);
                if blocks.is_empty() {
                    continue;
                }
                match cpu {
                    Some(cpu) => write!(f, "  cpu {cpu}")?,
                    None => write!(f, "  free")?,
                }
                let first: Vec<_> = blocks.iter().take(SHOWN).map(|pfn| format!("{pfn:#x}")).collect();
                let more = if blocks.len() > SHOWN { " …" } else { "" };
                let length = blocks.len();
                writeln!(
                    f,
                    " order {} {migratetype}: {length} blocks: {}{more}",
                    order.get(),
                    first.join(" ")
                )?;
            }
        }
        Ok(())
    }
}

impl fmt::Display for StateSummary<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for word in self.0 {
            match word {
                Word::Value { .. } | Word::CpuValue { .. } => writeln!(f, "  {word}")?,
                Word::BlockType { migratetype, block } => {
                    writeln!(f, "  pageblocks from {block} on: {migratetype}")?;
                }
                _ => {}
            }
        }
        for cpu in 0..2 {
            self.lists(f, Some(cpu))?;
        }
        self.lists(f, None)
    }
}
