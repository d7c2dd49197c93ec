//! Lines that a mail program or a log broke come in; whole lines go out.
//!
//! Mail is wrapped at 72 columns or so, and kernels 4.9 to 4.14 have logs with a line for each part of a line.

use super::blocks::{BlockList, block};
use super::place::node_and_zone;
use crate::text::{Line, field};

/// What may follow a line that is not whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Rest {
    /// The flags or the nodes of a request.
    Request,
    /// A zone behind `Node 0`.
    Zone,
    /// Further sizes of a zone.
    Sizes,
    /// Pages of `lowmem_reserve[]`.
    Reserve,
    /// Further blocks, letters, and the sum.
    Blocks,
    /// The function of a warning.
    Function,
    /// The groups of an OOM kill.
    Groups,
    /// The error of a range that CMA could not give.
    Error,
    /// The orders of a slab cache.
    Orders,
}

/// A line that may go on.
#[derive(Debug)]
struct OpenLine {
    text: String,
    time: Option<String>,
    caller: Option<String>,
    rest: Rest,
    parts: u32,
}

/// Joins lines.
#[derive(Debug, Default)]
pub(crate) struct Joiner {
    open: Option<OpenLine>,
}

/// The most lines that one is made of, which are those of a list of blocks in a log that breaks it at each order.
const MAX_PARTS: u32 = 40;

impl Joiner {
    /// Takes a line. Passes whole lines to `take`.
    pub(crate) fn take(&mut self, line: &Line<'_>, mut take: impl FnMut(&Line<'_>)) {
        // Web pages have blank lines between others.
        if line.text.is_empty() {
            return;
        }
        if let Some(open) = &mut self.open {
            if open.goes_on_with(line) {
                // The groups of an OOM kill are one word.
                open.text.push_str(if open.rest == Rest::Groups { "" } else { " " });
                open.text.push_str(line.text);
                open.parts += 1;
                match rest_of(&open.text) {
                    Some(rest) if open.parts < MAX_PARTS => open.rest = rest,
                    _ => self.finish(take),
                }
                return;
            }
            self.finish(&mut take);
        }
        match rest_of(line.text) {
            None => take(line),
            Some(rest) => {
                let (time, caller) = (line.time.map(str::to_owned), line.caller.map(str::to_owned));
                self.open = Some(OpenLine { text: line.text.to_owned(), time, caller, rest, parts: 1 });
            }
        }
    }

    /// Returns true if no line waits for its rest.
    pub(crate) fn is_idle(&self) -> bool {
        self.open.is_none()
    }

    /// Passes on what is left.
    pub(crate) fn finish(&mut self, mut take: impl FnMut(&Line<'_>)) {
        if let Some(open) = self.open.take() {
            take(&Line { time: open.time.as_deref(), caller: open.caller.as_deref(), text: &open.text });
        }
    }
}

impl OpenLine {
    fn goes_on_with(&self, line: &Line<'_>) -> bool {
        // Only the first part has a caller where a mail program broke the line.
        if line.caller.is_some() && line.caller != self.caller.as_deref() {
            return false;
        }
        let text = line.text;
        let first = text.split_whitespace().next().unwrap_or("");
        let is_number = |word: &str| !word.is_empty() && word.bytes().all(|b| b.is_ascii_digit());
        match self.rest {
            Rest::Request => {
                let keys = [
                    "order",
                    "mode:",
                    "mode=",
                    "gfp",
                    "(gfp",
                    "nodemask",
                    "oom_",
                    "0x",
                    "__GFP",
                    "GFP_",
                    "pages,",
                    "failed to",
                    "allocate",
                    "to allocate",
                    "vm_struct",
                    "failure",
                ];
                is_number(first.trim_end_matches(',')) || keys.iter().any(|key| text.starts_with(key))
            }
            Rest::Zone => node_and_zone(first.split(':').next().unwrap_or("")).is_some(),
            Rest::Sizes => is_size(first),
            Rest::Reserve => text.split_whitespace().all(is_number),
            Rest::Blocks => {
                let is_letters = first.starts_with('(') && first.ends_with(')') && first.len() <= 9;
                let is_sum = first == "=" || self.text.ends_with('=') && first.ends_with("kB");
                block(first).is_some() || is_letters || is_sum
            }
            Rest::Function => first.contains("+0x"),
            Rest::Error => text.contains("ret:") || first.starts_with('-'),
            Rest::Orders => {
                text.contains("order:")
                    || self.text.ends_with("cache:")
                    || text.starts_with("object size")
                    || text.starts_with("size:")
            }
            Rest::Groups => {
                first.contains("memcg=") || first.contains("mems_allowed=") || first.contains("cpuset=")
            }
        }
    }
}

/// Returns true for `present:15992kB`, for the end of one, and for `all_unreclaimable? no`.
fn is_size(word: &str) -> bool {
    let value = word.split_once(':').map_or(word, |(_, value)| value);
    let is_kib =
        value.len() > 2 && value.get(value.len() - 2..).is_some_and(|unit| unit.eq_ignore_ascii_case("kb"));
    (is_kib && !word.contains('*'))
        || word.starts_with("all_unreclaimable")
        || word.starts_with("pages_scanned:")
}

/// Returns what may follow a line, or `None` if it is whole or of no interest.
fn rest_of(text: &str) -> Option<Rest> {
    if is_open_request(text) {
        return Some(Rest::Request);
    }
    if text.starts_with("lowmem_reserve[]:") {
        return Some(Rest::Reserve);
    }
    if let Some(number) = text.strip_prefix("Node ")
        && number.trim_end_matches(':').parse::<u32>().is_ok()
    {
        return Some(Rest::Zone);
    }
    if let Some(at) = text.find(" free:") {
        let is_whole = text.contains("free_cma:") || text.contains("all_unreclaimable?");
        return (!is_whole && node_and_zone(&text[..at]).is_some()).then_some(Rest::Sizes);
    }
    if let Some((_, list)) = BlockList::find(text) {
        return list.printed_kib.is_none().then_some(Rest::Blocks);
    }
    if let Some((head, blocks)) = text.split_once(": ").or_else(|| text.split_once(':'))
        && node_and_zone(head).is_some()
        && (blocks.is_empty() || block(blocks.split(' ').next().unwrap_or("")).is_some())
    {
        return Some(Rest::Blocks);
    }
    if text.contains("WARNING:") && text.contains("mm/") && !text.contains("+0x") {
        return Some(Rest::Function);
    }
    if text.contains("alloc failed, req-size:") && !text.contains("ret: -") {
        return Some(Rest::Error);
    }
    if text.starts_with("cache:") && !text.contains("min order:") && !text.contains(", order:") {
        return Some(Rest::Orders);
    }
    let is_open_kill = text.starts_with("oom-kill:constraint=") && !text.contains("task_memcg=");
    is_open_kill.then_some(Rest::Groups)
}

/// Returns true for the first line of a report whose order or flags are missing or cut off.
fn is_open_request(text: &str) -> bool {
    const STARTS: [&str; 7] = [
        "page allocation failure",
        "oom-killer:",
        "page allocation stalls for",
        "vmalloc error:",
        "vmalloc: allocation failure",
        "Unable to allocate memory on",
        "page allocation",
    ];
    let Some(rest) = STARTS.iter().find_map(|start| text.split_once(start)).map(|(_, rest)| rest) else {
        return false;
    };
    let gfp = ["mode:", "gfp_mask=", "gfp="].iter().find_map(|key| field(rest, key));
    let is_whole = |gfp: &str| match gfp.find('(') {
        // Until 4.5 there are numbers alone.
        None => gfp.contains([' ', ',', ')']) || !rest.ends_with(','),
        Some(_) => gfp.contains(')'),
    };
    let has_order = text.contains("Unable to")
        || text.contains("vmalloc")
        || rest.contains("order:")
        || rest.contains("order=");
    !(has_order && gfp.is_some_and(is_whole))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(lines: &[&str]) -> Vec<String> {
        let (mut joiner, mut whole) = (Joiner::default(), Vec::new());
        for raw in lines {
            joiner.take(&Line::read(raw), |line| whole.push(line.text.to_owned()));
        }
        joiner.finish(|line| whole.push(line.text.to_owned()));
        whole
    }

    #[test]
    fn lines_that_mail_broke_are_joined() {
        let whole = joined(&[
            "> [ 1.5] a: page allocation failure: order:6,",
            "> mode:0xcc1(GFP_KERNEL|GFP_DMA),",
            "> nodemask=(null),cpuset=/",
            "> [ 1.5] Node 0 DMA free:16kB min:4kB",
            "> low:5kB present:15992kB",
            "> managed:15360kB free_cma:0kB",
            "> [ 1.5] lowmem_reserve[]: 0 250 6063",
            "> 6063",
            "> [ 1.5] Node 0 DMA: 2*4kB",
            "> (U) 1*8kB (M) =",
            "> 16kB",
            "> [ 1.5] 3 total pagecache pages",
        ]);
        assert_eq!(
            whole,
            [
                "a: page allocation failure: order:6, mode:0xcc1(GFP_KERNEL|GFP_DMA),",
                "nodemask=(null),cpuset=/",
                "Node 0 DMA free:16kB min:4kB low:5kB present:15992kB managed:15360kB free_cma:0kB",
                "lowmem_reserve[]: 0 250 6063 6063",
                "Node 0 DMA: 2*4kB (U) 1*8kB (M) = 16kB",
                "3 total pagecache pages",
            ]
        );
    }

    #[test]
    fn lines_that_a_log_broke_are_joined() {
        let whole = joined(&[
            "Node 0",
            "Normal free:16kB min:4kB free_cma:0kB",
            "lowmem_reserve[]:",
            " 0",
            " 7",
            "Node 0",
            "Normal:",
            "2*4kB",
            "(U)",
            "0*8kB",
            "= 8kB",
            "Node 0",
        ]);
        let expected = [
            "Node 0 Normal free:16kB min:4kB free_cma:0kB",
            "lowmem_reserve[]: 0 7",
            "Node 0 Normal: 2*4kB (U) 0*8kB = 8kB",
            "Node 0",
        ];
        assert_eq!(whole, expected);
    }

    #[test]
    fn whole_lines_stay() {
        let lines = [
            "a: page allocation failure. order:1, mode:0x20",
            "Pid: 1, comm: a Not tainted",
            "Node 0 DMA free:16kB min:4kB present:9kB",
            "lowmem_reserve[]: 0 0",
            "Node 0 DMA: 2*4kB 1*8kB = 16kB",
            "oom-kill:constraint=CONSTRAINT_NONE,nodemask=(null),cpuset=/,mems_allowed=0,global_oom,task_memcg=/,task=a",
            "WARNING: CPU: 1 PID: 5 at mm/page_alloc.c:5531 __alloc_pages+0x1b2/0x330",
        ];
        assert_eq!(joined(&lines), lines);
        let broken = ["WARNING: CPU: 1 PID: 5 at mm/page_alloc.c:5531", "__alloc_pages+0x1b2/0x330"];
        assert_eq!(joined(&broken), [broken.join(" ")]);
    }
}
