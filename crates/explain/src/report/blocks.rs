//! A zone's free blocks by order: `1*4kB (U) 2*8kB (UE) … = 63492kB`.

use freehold::{MAX_ORDERS, Migratetype};

use super::place::node_and_zone;
use crate::text::kib;

/// The types of blocks that one order has, by their letters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Letters(u8);

/// Letters and their types. `R` was a reserve until 4.3 that any request could use at last.
const LETTERS: [(char, Migratetype); 7] = [
    ('U', Migratetype::Unmovable),
    ('M', Migratetype::Movable),
    ('E', Migratetype::Reclaimable),
    ('R', Migratetype::Unmovable),
    ('H', Migratetype::HighAtomic),
    ('C', Migratetype::Cma),
    ('I', Migratetype::Isolate),
];

impl Letters {
    /// Reads letters. Returns `None` for any other character.
    fn read(text: &str) -> Option<Self> {
        text.chars().try_fold(Self(0), |all, c| {
            let (_, migratetype) = LETTERS.iter().find(|(letter, _)| *letter == c)?;
            Some(Self(all.0 | 1 << migratetype.index()))
        })
    }

    /// Returns true if no letter was printed: older kernels have none.
    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn has(self, migratetype: Migratetype) -> bool {
        self.0 >> migratetype.index() & 1 == 1
    }

    /// Returns the types, in the engine's order.
    pub(crate) fn types(self) -> impl Iterator<Item = Migratetype> {
        Migratetype::ALL.into_iter().filter(move |&migratetype| self.has(migratetype))
    }
}

/// The blocks of one order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct OrderRow {
    /// How many there are.
    pub(crate) count: u64,
    /// Of which types.
    pub(crate) letters: Letters,
}

/// A zone's free blocks.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct BlockList {
    /// The size of the first block. Units: KiB.
    pub(crate) page_kib: u64,
    /// A row for each order, from 0 up.
    pub(crate) rows: Vec<OrderRow>,
    /// The sum that the kernel printed, or `None` if the line is cut off.
    pub(crate) printed_kib: Option<u64>,
}

impl BlockList {
    /// Reads a list. Returns what stands before it, and the list. Blocks whose sizes do not double end it.
    pub(crate) fn find(text: &str) -> Option<(&str, Self)> {
        let head_end = start(text)?;
        let mut words = text[head_end..].split_whitespace().peekable();
        let mut rows: Vec<OrderRow> = Vec::new();
        let mut page_kib = 0;
        while let Some(word) = words.peek() {
            let expected = if rows.is_empty() { None } else { Some(page_kib << rows.len()) };
            let Some((count, kib)) = sized_block(word, expected).filter(|_| rows.len() < MAX_ORDERS) else {
                break;
            };
            words.next();
            if rows.is_empty() {
                page_kib = kib;
            }
            let letters = words.peek().and_then(|word| word.strip_prefix('(')?.strip_suffix(')'));
            let letters = letters.and_then(Letters::read);
            if letters.is_some() {
                words.next();
            }
            rows.push(OrderRow { count, letters: letters.unwrap_or_default() });
        }
        let printed_kib = if words.peek() == Some(&"=") { kib(text, "=") } else { None };
        let is_list = rows.len() > 1;
        is_list.then(|| (&text[..head_end], Self { page_kib, rows, printed_kib }))
    }

    /// Returns the sum of all blocks. Units: KiB.
    pub(crate) fn sum_kib(&self) -> u64 {
        let kib = |(order, row): (usize, &OrderRow)| row.count.saturating_mul(self.page_kib << order);
        self.rows.iter().enumerate().map(kib).fold(0, u64::saturating_add)
    }

    /// Returns true if the list is whole: its end is there, and its blocks add up to it.
    pub(crate) fn is_whole(&self) -> bool {
        self.printed_kib == Some(self.sum_kib())
    }

    /// Returns the largest order with a block that has one of the types that `suits`, or no letter.
    pub(crate) fn largest(&self, suits: impl Fn(Letters) -> bool) -> Option<u8> {
        let has = |row: &OrderRow| row.count > 0 && (row.letters.is_empty() || suits(row.letters));
        self.rows.iter().rposition(has).map(|order| order as u8)
    }

    /// Returns the pages in blocks of an order and above whose letters suit. Rows without letters do not.
    pub(crate) fn pages_from(&self, order: u8, suits: impl Fn(Letters) -> bool) -> u64 {
        let rows = self.rows.iter().enumerate().skip(order.into());
        let suiting = rows.filter(|(_, row)| !row.letters.is_empty() && suits(row.letters));
        suiting.fold(0, |sum, (order, row)| sum.saturating_add(row.count.saturating_mul(1 << order)))
    }

    /// Returns Linux's fragmentation index of an order in thousandths, or `None` if a block is large enough.
    ///
    /// Linux counterpart: `fragmentation_index`.
    pub(crate) fn fragmentation_index(&self, order: u8) -> Option<u64> {
        let blocks = self.rows.iter().fold(0_u64, |sum, row| sum.saturating_add(row.count));
        let has_suitable = self.rows.iter().skip(order.into()).any(|row| row.count > 0);
        if has_suitable || blocks == 0 || order >= 32 {
            return None;
        }
        let pages = self.sum_kib() / self.page_kib.max(1);
        let in_thousandths = 1000 + pages.saturating_mul(1000) / (1 << order);
        Some(1000_u64.saturating_sub(in_thousandths / blocks))
    }
}

/// The sizes that pages have. Units: KiB.
const PAGES_KIB: [u64; 7] = [4, 8, 16, 32, 64, 128, 256];

/// Returns where the list starts: at the first block, or behind the name of a zone where marks of blocks were lost.
fn start(text: &str) -> Option<usize> {
    if let Some(star) = text.find('*') {
        return Some(text[..star].trim_end_matches(|c: char| c.is_ascii_digit()).len());
    }
    let colon = text.find(": ")?;
    (text[colon..].contains("kB") && node_and_zone(&text[..colon]).is_some()).then_some(colon + 2)
}

/// Reads `12*64kB`.
pub(super) fn block(word: &str) -> Option<(u64, u64)> {
    let (count, size) = word.split_once('*')?;
    let kib = size.strip_suffix("kB")?.parse().ok()?;
    Some((count.parse().ok()?, kib)).filter(|&(count, kib)| count < 1 << 40 && kib < 1 << 30)
}

/// Reads a block of the `expected` size, or the first of a list. Where Markdown was applied to a log, `1*4kB` is `1_4kB`
/// or `14kB`: the size that must come then tells where the count ends.
fn sized_block(word: &str, expected: Option<u64>) -> Option<(u64, u64)> {
    if let Some((count, kib)) = block(word) {
        let fits = expected.map_or(PAGES_KIB.contains(&kib), |expected| kib == expected);
        return fits.then_some((count, kib));
    }
    let sizes = [expected.unwrap_or(PAGES_KIB[0])];
    sizes.iter().find_map(|&kib| {
        let count = word.strip_suffix(&format!("{kib}kB"))?.trim_end_matches('_');
        Some((count.parse().ok().filter(|&count| count < 1 << 40)?, kib))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_read_and_summed() {
        let (head, list) = BlockList::find("Node 0 DMA: 0*4kB 2*8kB (UE) 3*16kB (CH) 0*32kB = 64kB").unwrap();
        assert_eq!((head, list.page_kib, list.rows.len(), list.sum_kib()), ("Node 0 DMA: ", 4, 4, 64));
        assert!(list.is_whole() && list.rows[2].letters.has(Migratetype::Cma));
        assert_eq!(list.largest(|letters| letters.has(Migratetype::Unmovable)), Some(1));
        assert_eq!(list.fragmentation_index(3), Some(1000 - (1000 + 16_000 / 8) / 5));
        for cut in [
            "DMA: 0*4kB 2*8kB 3*16",
            "DMA: 0*4kB 2*8kB = 1",
            "DMA: 0*4kB 2*8kB = 15kB",
            "a: 1*4kB 1*4kB = 8kB",
        ] {
            assert!(BlockList::find(cut).is_none_or(|(_, list)| !list.is_whole()), "{cut}");
        }
        assert!(BlockList::find("5 * 4kB").is_none());
        for marked in ["DMA: 1_4kB 21_8kB (U) 0_16kB = 172kB", "DMA: 14kB 218kB (U) 016kB = 172kB"] {
            let (head, list) = BlockList::find(marked).unwrap();
            assert!(head == "DMA: " && list.is_whole() && list.rows[1].count == 21, "{marked}");
        }
    }
}
