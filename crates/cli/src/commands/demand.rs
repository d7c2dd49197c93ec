//! `freehold demand`: the requests of a recorded launch, as `freehold rehearse` reads them.

use std::fmt::Write as _;

use anyhow::anyhow;
use freehold::{GfpFlags, Order};
use freehold_lab::analysis::{Peak, PeakRequest, peak};
use freehold_measure::foreign;

use crate::args::Demand;
use crate::exit::{Cause, Failure};
use crate::load;
use crate::output;

/// The flags of pages of a pool of huge pages. Linux counterpart: `alloc_fresh_hugetlb_folio`.
const HUGETLB: GfpFlags =
    GfpFlags::HIGHUSER_MOVABLE.union(GfpFlags::COMP).union(GfpFlags::RETRY_MAYFAIL).union(GfpFlags::NOWARN);

pub(crate) fn run(args: &Demand) -> Result<(), Failure> {
    let (name, input) = (args.input.name(), &args.input);
    let page_bytes = load::open(input)?.origin().page_bytes.max(4096);
    let note = |text: &str| output::note(&format!("freehold: {text}"));
    let peak = peak(&name, &args.pid, || load::open(input), note, |error| load::failure(&name, error))?;
    if peak.requests.is_empty() {
        let whose = if args.pid.is_empty() { "" } else { " of these tasks" };
        return Err(Failure::new(Cause::Data, anyhow!("{name} has no allocation{whose}")));
    }
    output::print(&text(&foreign::one_line(&name), &peak, page_bytes))
}

/// Returns the lines of the demand, in the order in which their kinds of requests first appeared.
fn text(name: &str, peak: &Peak, page_bytes: u64) -> String {
    let mut text = format!(
        "# The most memory in use at once in {name}, {:.1} s after its start\n",
        peak.after_ns as f64 / 1e9
    );
    // A table of the lowest level has eight bytes a page.
    let huge = page_bytes.ilog2() - 3;
    let mut kinds: Vec<(RequestKind, u64)> = Vec::new();
    for request in &peak.requests {
        let kind = RequestKind::of(request, huge);
        match kinds.iter_mut().find(|(known, _)| *known == kind) {
            Some((_, pages)) => *pages += request.pages,
            None => kinds.push((kind, request.pages)),
        }
    }
    for (kind, pages) in kinds {
        let _ = writeln!(text, "{}", kind.line(pages, page_bytes));
    }
    text.truncate(text.trim_end().len());
    text
}

/// A kind of requests of a demand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum RequestKind {
    PageCache,
    Anonymous,
    Thp,
    Hugetlb(Order),
    Alloc(Order),
    Atomic(Order),
}

impl RequestKind {
    /// Returns the kind of a request on a machine whose huge pages have the order `huge`.
    fn of(request: &PeakRequest, huge: u32) -> Self {
        let PeakRequest { gfp, order, .. } = *request;
        // Readahead has the first two flags, and a write the third. Linux counterpart: `readahead_gfp_mask`.
        let reads =
            gfp.contains(GfpFlags::MOVABLE | GfpFlags::NORETRY) && !gfp.contains(GfpFlags::NOMEMALLOC);
        let writes = gfp.contains(GfpFlags::MOVABLE | GfpFlags::WRITE);
        if reads || writes {
            Self::PageCache
        } else if u32::from(order.get()) == huge && gfp.contains(GfpFlags::TRANSHUGE_LIGHT) {
            Self::Thp
        } else if order > Order::ZERO && gfp.contains(HUGETLB) {
            Self::Hugetlb(order)
        } else if gfp.contains(GfpFlags::MOVABLE) {
            Self::Anonymous
        } else if gfp.contains(GfpFlags::DIRECT_RECLAIM) {
            Self::Alloc(order)
        } else {
            Self::Atomic(order)
        }
    }

    fn line(self, pages: u64, page_bytes: u64) -> String {
        let kib = pages.saturating_mul(page_bytes) >> 10;
        let blocks = |order: Order| pages.div_ceil(order.pages());
        let size = |order: Order| order.pages() * (page_bytes >> 10);
        match self {
            Self::PageCache => format!("# page cache, which the kernel takes back: {kib}K"),
            Self::Anonymous => format!("anon {kib}K"),
            Self::Thp => format!("thp {kib}K"),
            Self::Hugetlb(order) => format!("hugetlb {}K={}", size(order), blocks(order)),
            Self::Alloc(order) => format!("order {order}={}", blocks(order)),
            Self::Atomic(order) => format!("atomic {}K={}", size(order), blocks(order)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_can_be_rehearsed() {
        let order = |value| Order::new(value).unwrap();
        let request = |gfp, of, pages| PeakRequest { gfp, order: order(of), pages };
        let user = GfpFlags::HIGHUSER_MOVABLE;
        let requests = vec![
            request(GfpFlags::KERNEL | GfpFlags::ZERO, 0, 7),
            request(user | GfpFlags::ZERO, 0, 100),
            request(user | GfpFlags::NORETRY | GfpFlags::NOWARN, 2, 40),
            request(GfpFlags::TRANSHUGE | GfpFlags::ZERO, 9, 1024),
            request(HUGETLB, 9, 513),
            request(user, 0, 28),
            request(GfpFlags::GFP_ATOMIC | GfpFlags::COMP, 3, 8),
            request(GfpFlags::KERNEL_ACCOUNT, 2, 9),
        ];
        let text = text("a.arrows", &Peak { after_ns: 1_500_000_000, requests }, 4096);
        assert_eq!(
            text,
            "# The most memory in use at once in a.arrows, 1.5 s after its start\norder 0=7\nanon 512K\n\
             # page cache, which the kernel takes back: 160K\nthp 4096K\nhugetlb 2048K=2\natomic 32K=1\norder 2=3"
        );
        let demand: freehold_monitor::verdict::Demand = text.parse().unwrap();
        assert_eq!(demand.lines.len(), 6);
    }
}
