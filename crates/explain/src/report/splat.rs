//! One report of the kernel's, as far as its lines were found.

use super::allocator::Allocator;
use super::blocks::BlockList;
use super::cgroup::Cgroup;
use super::kind::Kind;
use super::place::node_and_zone;
use super::release::Release;
use super::request::{AllocRequest, MAX_TASK_BYTES};
use super::slabs::SlabList;
use super::stack;
use super::tasks::TaskList;
use super::totals::Totals;
use super::zone::{ZoneText, lowmem_reserve};
use crate::text::{field, kib, number};

/// A range that CMA could not give.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CmaFailure {
    /// The number of pages requested.
    pub(crate) pages: Option<u64>,
    /// The kernel's error: 4 a fatal signal, 12 no free range, 16 pages that stay in use.
    pub(crate) errno: Option<u64>,
    /// True if the line names CMA: others request ranges, too.
    pub(crate) is_named: bool,
}

/// A failure of vmalloc.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct VmallocFailure {
    /// True if it found no range of addresses, false if its text says that pages were what it lacked.
    pub(crate) lacks_addresses: Option<bool>,
    /// True if the kernel also printed which range it searched for addresses.
    pub(crate) has_range: bool,
    /// True if the addresses are those of modules.
    pub(crate) is_for_modules: bool,
    /// True if more was requested than the machine has.
    pub(crate) exceeds_machine: bool,
}

/// Why per-CPU memory was refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum PerCpuReason {
    /// The area for the static variables of modules is full.
    ReservedFull,
    /// A request that cannot wait found no room in the chunks.
    NoRoom,
    /// No page was free for a new chunk, or for the part of one.
    NoPages,
}

/// Where a listing without a request comes from.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Origin {
    /// The lines before it may have left the log, with the start of an OOM kill.
    #[default]
    Unknown,
    /// The administrator requested it.
    SysRq,
    /// An OOM kill is open beside it, which the lines of OOM kills belong to.
    BesideOom,
}

/// What is wrong with the lines of a report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum Damage {
    #[default]
    None,
    /// A line stands twice: others are missing.
    Torn,
    /// Lines of two reports are mixed.
    Interleaved,
}

/// A pool of huge pages that did not become as large as requested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct HugePool {
    pub(crate) wanted: u64,
    pub(crate) got: u64,
    /// The size of one, as printed: `2.00 MiB`.
    pub(crate) page_size: String,
    /// The node that was too small, where the request names one.
    pub(crate) node: Option<u32>,
}

/// A report.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Splat {
    pub(crate) kind: Kind,
    /// When it was printed, in the log's own form.
    pub(crate) time: Option<String>,
    pub(crate) release: Option<Release>,
    pub(crate) request: AllocRequest,
    /// Bytes of a request that is not in pages.
    pub(crate) bytes: Option<u64>,
    pub(crate) vmalloc: VmallocFailure,
    /// Whether a request for per-CPU memory could wait.
    pub(crate) may_wait: Option<bool>,
    pub(crate) per_cpu: Option<PerCpuReason>,
    /// The function of a warning.
    pub(crate) function: Option<String>,
    pub(crate) cma: CmaFailure,
    pub(crate) pool: Option<HugePool>,
    /// The slab cache.
    pub(crate) cache: Option<String>,
    pub(crate) cgroup: Cgroup,
    /// All tasks, by name.
    pub(crate) tasks: TaskList,
    /// The slab caches that cannot be reclaimed.
    pub(crate) slabs: SlabList,
    /// The killed task.
    pub(crate) killed: Option<String>,
    /// True if the kernel says that no cgroup and no set of nodes limited the request.
    pub(crate) is_unconstrained: bool,
    pub(crate) origin: Origin,
    pub(crate) totals: Totals,
    pub(crate) zones: Vec<ZoneText>,
    /// The code that has allocated most.
    pub(crate) top: Vec<Allocator>,
    /// How long the request has waited, where the kernel says so. Units: milliseconds.
    pub(crate) stalled_ms: Option<u64>,
    /// The code that made the request.
    pub(crate) caller: Option<String>,
    /// Memory in pools of huge pages. Units: KiB.
    pub(crate) huge_pages_kib: u64,
    /// Memory in stacks of tasks, summed over zones or nodes. Units: KiB.
    pub(crate) kernel_stack_kib: u64,
    /// True after the line `Mem-Info:`.
    pub(crate) has_meminfo: bool,
    pub(crate) damage: Damage,
}

/// What became of a line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Taken {
    /// It is no line of a report.
    No,
    Yes,
    /// The report has such a line already.
    Twice,
}

/// The most zones of one report: those of 1024 nodes.
const MAX_ZONES: usize = 4096;
/// The most lines of the list of top allocators that are kept.
const MAX_TOP: usize = 10;

impl Splat {
    pub(crate) fn new(kind: Kind, time: Option<&str>, release: Option<Release>) -> Self {
        Self {
            kind,
            time: time.map(|time| time.chars().take(40).collect()),
            release,
            request: AllocRequest::default(),
            bytes: None,
            vmalloc: VmallocFailure::default(),
            may_wait: None,
            per_cpu: None,
            function: None,
            cma: CmaFailure::default(),
            pool: None,
            cache: None,
            cgroup: Cgroup::default(),
            tasks: TaskList::default(),
            slabs: SlabList::default(),
            killed: None,
            is_unconstrained: false,
            origin: Origin::Unknown,
            totals: Totals::default(),
            zones: Vec::new(),
            top: Vec::new(),
            stalled_ms: None,
            caller: None,
            huge_pages_kib: 0,
            kernel_stack_kib: 0,
            has_meminfo: false,
            damage: Damage::None,
        }
    }

    /// Returns true if the text of the zones' blocks is there, which is among the last of a report.
    pub(crate) fn has_blocks(&self) -> bool {
        self.zones.iter().any(|zone| zone.blocks.is_some())
    }

    /// Takes a line behind the header.
    pub(crate) fn take(&mut self, text: &str) -> Taken {
        if !self.kind.has_zones() {
            return if self.take_rest(text) { Taken::Yes } else { Taken::No };
        }
        if text.eq_ignore_ascii_case("Mem-Info:") {
            let twice = std::mem::replace(&mut self.has_meminfo, true);
            return if twice { Taken::Twice } else { Taken::Yes };
        }
        if let Some(stacks) = kib(text, "kernel_stack:") {
            self.kernel_stack_kib = self.kernel_stack_kib.saturating_add(stacks);
        }
        if let Some(zone) = ZoneText::find(text) {
            return self.take_sizes(zone);
        }
        if let Some(taken) = self.take_blocks(text) {
            return taken;
        }
        if let Some(reserve) = lowmem_reserve(text) {
            let Some(zone) = self.zones.last_mut() else { return Taken::No };
            let taken = if zone.lowmem_reserve.is_some() { Taken::Twice } else { Taken::Yes };
            zone.lowmem_reserve.get_or_insert(reserve);
            return taken;
        }
        let found = self.take_kill(text) || self.take_rest(text);
        if found { Taken::Yes } else { Taken::No }
    }

    fn take_sizes(&mut self, zone: ZoneText) -> Taken {
        let same = |known: &ZoneText| known.node == zone.node && known.kind == zone.kind;
        if self.zones.iter().any(same) {
            return Taken::Twice;
        }
        if self.zones.len() < MAX_ZONES {
            self.zones.push(zone);
        }
        Taken::Yes
    }

    fn take_blocks(&mut self, text: &str) -> Option<Taken> {
        let (head, list) = BlockList::find(text)?;
        let (node, kind) = node_and_zone(head)?;
        let has_room = self.zones.len() < MAX_ZONES;
        let found = self.zones.iter_mut().find(|known| known.node == node && known.kind == kind);
        match found {
            Some(ZoneText { blocks: Some(_), .. }) => return Some(Taken::Twice),
            Some(zone) => zone.blocks = Some(list),
            None if has_room => {
                self.zones.push(ZoneText { blocks: Some(list), ..ZoneText::unsized_zone(node, kind) });
            }
            None => {}
        }
        Some(Taken::Yes)
    }

    /// Returns true if lines of an OOM kill may belong to the report.
    fn may_be_oom(&self) -> bool {
        self.kind.is_oom() || self.kind == Kind::MemInfo && self.origin == Origin::Unknown
    }

    /// Turns a listing whose start has left the log into the OOM kill that its later lines belong to.
    fn become_oom(&mut self) {
        if self.kind == Kind::MemInfo {
            self.kind = Kind::Oom;
        }
    }

    /// Takes what the OOM killer says of whom it killed for what limit.
    fn take_kill(&mut self, text: &str) -> bool {
        if !self.may_be_oom() {
            return false;
        }
        if let Some(constraint) = field(text, "oom-kill:constraint=") {
            self.become_oom();
            self.request.take_nodes(text);
            self.is_unconstrained |= constraint.starts_with("CONSTRAINT_NONE");
            if constraint.starts_with("CONSTRAINT_MEMCG") {
                self.kind = Kind::OomCgroup;
                self.cgroup.path = field(text, "oom_memcg=").map(|path| until(path, ','));
            } else if constraint.starts_with("CONSTRAINT_CPUSET")
                || constraint.starts_with("CONSTRAINT_MEMORY")
            {
                self.kind = Kind::OomNodes;
            }
            return true;
        }
        if let Some(path) = field(text, "killed as a result of limit of") {
            (self.kind, self.cgroup.path) = (Kind::OomCgroup, Some(until(path.trim(), ' ')));
            return true;
        }
        if self.cgroup.take_counter(text) {
            self.kind = Kind::OomCgroup;
            return true;
        }
        if self.kind == Kind::OomCgroup && self.cgroup.take_stats(text) {
            return true;
        }
        let killed = ["Killed process", "Kill process"].iter().find_map(|key| field(text, key));
        if let Some(killed) = killed {
            self.become_oom();
            if text.starts_with("Memory cgroup") {
                self.kind = Kind::OomCgroup;
            }
            self.is_unconstrained |= self.kind == Kind::Oom && text.contains("ut of memory: Kill");
            let name = killed.split_once('(').map(|(_, rest)| rest.trim_start_matches('('));
            let name = name.and_then(|rest| rest.split_once(')'));
            self.killed = self.killed.take().or(name.map(|(name, _)| name.chars().take(64).collect()));
        }
        killed.is_some()
    }

    /// Takes a line of the stack, which is before the zones.
    fn take_stack(&mut self, text: &str) -> bool {
        if self.has_meminfo || !self.zones.is_empty() {
            return false;
        }
        if self.kind == Kind::Oom && text.contains("mem_cgroup_out_of_memory+0x") && !text.contains("? ") {
            self.kind = Kind::OomCgroup;
        }
        let allocates_for_modules =
            ["module_alloc+0x", "execmem_alloc+0x"].iter().any(|name| text.contains(name));
        self.vmalloc.is_for_modules |= self.kind == Kind::Vmalloc && allocates_for_modules;
        if self.caller.is_none() {
            self.caller = stack::caller(text).map(str::to_owned);
        }
        true
    }

    fn take_rest(&mut self, text: &str) -> bool {
        if let Some(release) = Release::find(text) {
            self.release = Some(release);
            self.request.task = self.request.task.take().or_else(|| comm(text));
            return true;
        }
        // The innermost part of a stack comes first.
        self.request.is_in_interrupt |= self.caller.is_none() && text.starts_with("<IRQ>");
        if text.contains("+0x") {
            return self.take_stack(text);
        }
        if self.may_be_oom() && self.tasks.take(text) {
            self.become_oom();
            return true;
        }
        if self.kind.has_zones() && self.slabs.take(text) {
            return true;
        }
        if let Some(allocator) = Allocator::read(text) {
            if !self.kind.has_zones() && self.kind != Kind::TopAllocators {
                return false;
            }
            if self.top.len() < MAX_TOP {
                self.top.push(allocator);
            }
            return true;
        }
        if let Some((count, size)) = number(text, "hugepages_total=").zip(kib(text, "hugepages_size=")) {
            self.huge_pages_kib = self.huge_pages_kib.saturating_add(count.saturating_mul(size));
            return true;
        }
        if text.starts_with("Memory allocations") {
            return self.kind.has_zones() || self.kind == Kind::TopAllocators;
        }
        if let Some(cache) = field(text, "cache:").filter(|_| self.kind == Kind::Slab) {
            self.cache = Some(until(cache.trim(), ','));
            let order = number(text, "min order:").or_else(|| number(text, " order:"));
            self.request.order = self.request.order.or(order.and_then(|order| u8::try_from(order).ok()));
            return true;
        }
        if text.starts_with("node ") && self.kind == Kind::Slab {
            return text.contains("slabs:");
        }
        if !self.kind.has_zones() {
            return false;
        }
        // A node's own sums are in KiB, and those of all zones say the same.
        let is_node = text.starts_with("Node ") && text.contains("kB");
        self.request.take_nodes(text) || (!is_node && self.totals.take(text))
    }
}

/// Returns the task of a line such as `CPU: 0 PID: 5 Comm: task Not tainted`.
fn comm(text: &str) -> Option<String> {
    let rest = field(text, "comm:")?.trim_start();
    let end = ["Not tainted", "Tainted:"].iter().find_map(|key| rest.find(key))?;
    Some(rest[..end].trim().to_owned()).filter(|task| !task.is_empty() && task.len() <= MAX_TASK_BYTES)
}

/// Returns the text before `end`, at most 100 characters.
fn until(text: &str, end: char) -> String {
    text.split(end).next().unwrap_or("").chars().take(100).collect()
}
