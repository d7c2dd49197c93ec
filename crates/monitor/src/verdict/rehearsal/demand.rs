//! A demand: the requests of a launch, as a user writes them.

use std::str::FromStr;

use thiserror::Error;

use super::super::size::{SizeText, parse_bytes};

/// The requests of a launch, in their order.
///
/// A line is a request. Empty lines and what follows a `#` are ignored.
///
/// | line | request |
/// |---|---|
/// | `hugetlb 2M=512` | 512 pages of 2 MiB for a pool of huge pages |
/// | `thp 24G` | 24 GiB of transparent huge pages |
/// | `anon 32G` | 32 GiB of memory in single pages |
/// | `alloc 512K=40` or `order 7=40` | 40 blocks of the kernel, which may wait (`GFP_KERNEL`) |
/// | `atomic 64K=8` | 8 blocks of the kernel, which may not wait (`GFP_ATOMIC`) |
/// | `range 1G=2` | 2 contiguous ranges (`alloc_contig_pages`) |
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Demand {
    /// The requests.
    pub lines: Vec<DemandLine>,
}

/// One request of a demand.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DemandLine {
    /// The number of the line, from 1.
    pub number: usize,
    /// The line, without its comment.
    pub text: String,
    /// Who requests.
    pub kind: DemandKind,
    /// How much.
    pub amount: Amount,
}

/// Who requests memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum DemandKind {
    /// A pool of huge pages.
    Hugetlb,
    /// Page faults in memory that wants transparent huge pages.
    Thp,
    /// Page faults, a page each.
    Anonymous,
    /// The kernel, which may wait.
    Alloc,
    /// The kernel, which may not wait.
    Atomic,
    /// Contiguous ranges.
    Range,
}

/// How much is requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Amount {
    /// A number of blocks of so many bytes.
    Blocks {
        /// The size of a block in bytes.
        bytes: u64,
        /// The number.
        blocks: u64,
    },
    /// A number of blocks of an order.
    Order {
        /// The order.
        order: u8,
        /// The number.
        blocks: u64,
    },
    /// Memory in blocks of the size that the kind has on this machine. Units: bytes.
    Bytes(u64),
}

/// A line that is no request.
#[derive(Clone, PartialEq, Eq, Error, Debug)]
#[error("line {line}: {text:?}: {why}")]
pub struct DemandError {
    /// The number of the line, from 1.
    pub line: usize,
    /// The line.
    pub text: String,
    /// What is wrong, and how it is written.
    pub why: String,
}

/// The kinds, and a request of each.
const KINDS: [(&str, DemandKind, &str); 7] = [
    ("hugetlb", DemandKind::Hugetlb, "hugetlb 2M=512"),
    ("thp", DemandKind::Thp, "thp 24G"),
    ("anon", DemandKind::Anonymous, "anon 32G"),
    ("alloc", DemandKind::Alloc, "alloc 512K=40"),
    ("order", DemandKind::Alloc, "order 7=40"),
    ("atomic", DemandKind::Atomic, "atomic 64K=8"),
    ("range", DemandKind::Range, "range 1G=2"),
];

impl FromStr for Demand {
    type Err = DemandError;

    fn from_str(text: &str) -> Result<Self, DemandError> {
        // Editors of Windows start a file with a mark.
        let text = text.trim_start_matches('\u{feff}');
        let lines =
            text.lines().zip(1..).map(|(line, number)| (number, line.split('#').next().unwrap_or("").trim()));
        let parsed = lines.filter(|(_, line)| !line.is_empty()).map(|(number, line)| {
            let (kind, amount) =
                request(line).map_err(|why| DemandError { line: number, text: line.to_owned(), why })?;
            let text = line.split_whitespace().collect::<Vec<_>>().join(" ");
            Ok(DemandLine { number, text, kind, amount })
        });
        Ok(Self { lines: parsed.collect::<Result<_, _>>()? })
    }
}

/// Parses a line such as `hugetlb 2M=512`.
fn request(line: &str) -> Result<(DemandKind, Amount), String> {
    let (name, rest) =
        line.split_once(|letter: char| letter.is_whitespace() || letter == '=').unwrap_or((line, ""));
    let Some(&(_, kind, example)) = KINDS.iter().find(|(known, ..)| known.eq_ignore_ascii_case(name)) else {
        let known: Vec<_> = KINDS.iter().map(|(known, ..)| *known).collect();
        return Err(format!("a request starts with {}", known.join(", ")));
    };
    let such = |what: &str| format!("{what}, such as `{example}`");
    if matches!(kind, DemandKind::Thp | DemandKind::Anonymous) {
        let bytes =
            parse_bytes(rest).ok_or_else(|| such("write how much memory: a whole number and a unit"))?;
        return Ok((kind, Amount::Bytes(bytes)));
    }
    let (size, blocks) =
        rest.split_once(['=', 'x', '×', '*']).ok_or_else(|| such("write a size and a number of blocks"))?;
    let blocks = digits(blocks).filter(|&blocks| blocks > 0);
    let blocks = blocks.ok_or_else(|| such("write a number of blocks above 0"))?;
    if name.eq_ignore_ascii_case("order") {
        let order = digits(size).filter(|&order| order < 40).map(|order| order as u8);
        let order = order.ok_or_else(|| such("write an order below 40"))?;
        return Ok((kind, Amount::Order { order, blocks }));
    }
    let bytes =
        parse_bytes(size).ok_or_else(|| such("write the size of a block: a whole number and a unit"))?;
    Ok((kind, Amount::Blocks { bytes, blocks }))
}

/// Parses a number without a sign.
fn digits(text: &str) -> Option<u64> {
    let text = text.trim();
    if text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse().ok() } else { None }
}

impl Amount {
    /// Returns the size of a block and the number of blocks. `own` is the size that the kind has on this machine.
    ///
    /// # Errors
    /// Too many blocks for any machine, in words.
    pub fn blocks(self, own: u64, page_bytes: u64) -> Result<(u64, u64), String> {
        let (bytes, blocks) = match self {
            Self::Blocks { bytes, blocks } => (bytes, blocks),
            Self::Order { order, blocks } => (page_bytes << order, blocks),
            Self::Bytes(bytes) => (own, bytes.div_ceil(own.max(1))),
        };
        match bytes.checked_mul(blocks) {
            Some(_) => Ok((bytes, blocks)),
            None => Err(format!("{blocks} blocks of {} are more than any machine has", SizeText(bytes))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn amount(line: &str) -> Amount {
        let demand: Demand = line.parse().unwrap();
        demand.lines[0].amount
    }

    #[test]
    fn a_line_is_a_request() {
        let text = "\u{feff}# a database\nhugetlb 2M=512\n\n  thp   24 GiB # its heap\norder 7 x 40\nRANGE 1GiB × 2\nanon=3g\r\n";
        let demand: Demand = text.parse().unwrap();
        let lines: Vec<_> =
            demand.lines.iter().map(|line| (line.number, line.text.as_str(), line.kind)).collect();
        assert_eq!(
            lines,
            [
                (2, "hugetlb 2M=512", DemandKind::Hugetlb),
                (4, "thp 24 GiB", DemandKind::Thp),
                (5, "order 7 x 40", DemandKind::Alloc),
                (6, "RANGE 1GiB × 2", DemandKind::Range),
                (7, "anon=3g", DemandKind::Anonymous),
            ]
        );
        assert_eq!(amount("hugetlb 2M=512"), Amount::Blocks { bytes: 2 << 20, blocks: 512 });
        assert_eq!(amount("order 7 x 40"), Amount::Order { order: 7, blocks: 40 });
        assert_eq!(amount("anon 3g"), Amount::Bytes(3 << 30));
    }

    #[test]
    fn memory_is_rounded_up_to_blocks() {
        assert_eq!(amount("thp 3M").blocks(2 << 20, 4096), Ok((2 << 20, 2)));
        assert_eq!(amount("order 7=40").blocks(0, 16384), Ok((2 << 20, 40)));
        assert!(
            amount("hugetlb 1G=99999999999").blocks(0, 4096).unwrap_err().contains("more than any machine")
        );
    }

    #[test]
    fn other_lines_are_refused_with_the_remedy() {
        for (line, why) in [
            ("cma 64M", "a request starts with hugetlb, thp, anon, "),
            ("hugetlb 512", "write a size and a number of blocks, such as `hugetlb 2M=512`"),
            ("hugetlb 2=512", "write the size of a block: a whole number and a unit"),
            ("hugetlb 2M=0", "a number of blocks above 0"),
            ("alloc 2M=-1", "a number of blocks above 0"),
            ("alloc 2M=+3", "a number of blocks above 0"),
            ("anon 1Gibbb", "a whole number and a unit"),
            ("anon 1.5M", "a whole number and a unit"),
            ("thp 24", "how much memory: a whole number and a unit, such as `thp 24G`"),
            ("anon 99999999T", "how much memory"),
            ("anon 0G", "how much memory"),
            ("order 99=1", "an order below 40"),
            ("range", "a size and a number"),
        ] {
            let error = format!("\n{line}").parse::<Demand>().unwrap_err();
            assert!(error.line == 2 && error.why.contains(why), "{error}");
        }
        assert_eq!("# nothing\n".parse::<Demand>().unwrap().lines, []);
    }
}
