//! The request that failed.

use freehold::GfpFlags;

use super::gfp::GfpText;
use super::node_set::NodeSet;
use crate::text::{digits, field};

/// A request, as far as the text names it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct AllocRequest {
    /// The task.
    pub(crate) task: Option<String>,
    /// The order of the block.
    pub(crate) order: Option<u8>,
    /// True for `order=-1`, which the OOM killer has from the administrator.
    pub(crate) is_by_hand: bool,
    /// True if an interrupt made the request.
    pub(crate) is_in_interrupt: bool,
    /// The flags.
    pub(crate) gfp: Option<GfpText>,
    /// The nodes of the memory policy.
    pub(crate) nodemask: Option<NodeSet>,
    /// The nodes of the cpuset.
    pub(crate) mems_allowed: Option<NodeSet>,
}

/// Whether a request may use the memory of a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum NodeAccess {
    /// Neither the memory policy nor the cpuset excludes the node.
    Open,
    /// The cpuset leaves the node out, and one that the text does not name decides.
    Unclear,
    /// The memory policy or the cpuset excludes the node.
    Closed,
}

/// The longest name of a task. Units: bytes.
///
/// Linux counterpart: `TASK_COMM_LEN`, which counts a zero at the end.
pub(super) const MAX_TASK_BYTES: usize = 15;

/// The largest order that any kernel has room for.
const MAX_ORDER: u64 = 63;

impl AllocRequest {
    /// Reads what a header says. `task` is the text before it.
    pub(crate) fn read(task: &str, text: &str) -> Self {
        let task = task.trim().trim_end_matches(':');
        let mut request = Self {
            // What is longer is no name of a task but a prefix of the log that is not known.
            task: (!task.is_empty() && task.len() <= MAX_TASK_BYTES).then(|| task.to_owned()),
            // The idle task allocates nothing itself.
            is_in_interrupt: task.starts_with("swapper"),
            order: ["order:", "order=", "page order"].iter().find_map(|key| order(text, key)),
            is_by_hand: field(text, "order=-1").is_some(),
            ..Self::default()
        };
        let gfp = ["mode:", "gfp_mask=", "gfp="].iter().find_map(|key| field(text, key));
        request.gfp = gfp.and_then(GfpText::read);
        request.take_nodes(text);
        request
    }

    /// Takes the nodes that a line names, unless they are known.
    pub(crate) fn take_nodes(&mut self, text: &str) -> bool {
        let nodes = |key| field(text, key).and_then(NodeSet::read);
        let (nodemask, mems) = (nodes("nodemask="), nodes("mems_allowed="));
        let found = nodemask.is_some() || mems.is_some();
        self.nodemask = self.nodemask.take().or(nodemask);
        self.mems_allowed = self.mems_allowed.take().or(mems);
        found
    }

    /// Returns whether the request may use the memory of a node. `flags` are the request's.
    ///
    /// A cpuset does not bind interrupts and requests that cannot wait. It binds requests with `__GFP_HARDWALL`. For the
    /// others, the nearest enclosing hardwalled cpuset decides.
    ///
    /// Linux counterpart: `cpuset_node_allowed`.
    pub(crate) fn access(&self, node: u32, flags: GfpFlags) -> NodeAccess {
        let leaves_out = |set: &Option<NodeSet>| set.as_ref().is_some_and(|set| !set.contains(node));
        if leaves_out(&self.nodemask) {
            NodeAccess::Closed
        } else if !self.is_bound_by_cpuset(flags) || !leaves_out(&self.mems_allowed) {
            NodeAccess::Open
        } else if flags.contains(GfpFlags::HARDWALL) {
            NodeAccess::Closed
        } else {
            NodeAccess::Unclear
        }
    }

    /// Returns true if a cpuset may bind a request with these flags.
    fn is_bound_by_cpuset(&self, flags: GfpFlags) -> bool {
        !self.is_in_interrupt && flags.contains(GfpFlags::DIRECT_RECLAIM)
    }

    /// Returns true if the kernel lists only the nodes that the text names.
    ///
    /// Linux counterpart: `SHOW_MEM_FILTER_NODES`.
    pub(crate) fn hides_nodes(&self, flags: GfpFlags) -> bool {
        let names_nodes = self.nodemask.is_some() || self.mems_allowed.is_some();
        names_nodes && self.is_bound_by_cpuset(flags)
    }
}

/// Returns the order behind a key. A number at the very end of a line may be cut off, and counts as absent.
fn order(text: &str, key: &str) -> Option<u8> {
    // Some web pages have lost the commas between the numbers.
    let behind = field(text, key).or_else(|| text.split_once(key).map(|(_, rest)| rest))?;
    let (order, rest) = digits(behind.trim_start())?;
    (order <= MAX_ORDER && !rest.is_empty()).then_some(order as u8)
}
