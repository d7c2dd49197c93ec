//! The request that failed.

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
    /// The flags.
    pub(crate) gfp: Option<GfpText>,
    /// The nodes of the memory policy.
    pub(crate) nodemask: Option<NodeSet>,
    /// The nodes of the cpuset.
    pub(crate) mems_allowed: Option<NodeSet>,
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

    /// Returns true if the request may use memory of a node.
    pub(crate) fn may_use_node(&self, node: u32) -> bool {
        let sets = [&self.nodemask, &self.mems_allowed];
        sets.into_iter().flatten().all(|set| set.contains(node))
    }
}

/// Returns the order behind a key. A number at the very end of a line may be cut off, and counts as absent.
fn order(text: &str, key: &str) -> Option<u8> {
    // Some web pages have lost the commas between the numbers.
    let behind = field(text, key).or_else(|| text.split_once(key).map(|(_, rest)| rest))?;
    let (order, rest) = digits(behind.trim_start())?;
    (order <= MAX_ORDER && !rest.is_empty()).then_some(order as u8)
}
