//! What unmovable pages are and which code allocated them, as the table names them.

use std::collections::HashMap;

use freehold_linux::blame::{Allocation, Pin, PinOwner, StackId, Stacks, UnmovablePages, What};

/// A row's number.
pub(super) type HolderId = u32;

/// A holder: what its pages are, and which function allocated them, where that is known.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Holder {
    pub(super) what: String,
    pub(super) code: Option<String>,
    /// True if the two say who must let go.
    pub(super) is_named: bool,
    /// True if what the pages are says so alone.
    pub(super) names_itself: bool,
}

/// Every holder, each once.
#[derive(Default)]
pub(super) struct Holders {
    all: Vec<Holder>,
    known: HashMap<Holder, HolderId>,
    /// The holders of what was looked up before, as there are few of these and many pages.
    by_key: HashMap<(What, Option<StackId>), HolderId>,
}

impl Holders {
    /// Returns the holder of a run of pages.
    pub(super) fn of(
        &mut self,
        run: &UnmovablePages,
        made: Option<&Allocation>,
        stacks: &Stacks,
    ) -> HolderId {
        let stack = made.and_then(|made| made.stack);
        let key = (run.what.clone(), stack);
        if let Some(known) = self.by_key.get(&key) {
            return *known;
        }
        let code = stack.and_then(|stack| stacks.culprit(stack)).map(str::to_owned);
        let names_itself = match &run.what {
            What::Kernel | What::Slab(None) => false,
            What::Pinned(pin) => pin.owner.is_some(),
            _ => true,
        };
        // Who allocated a page that could be moved is not who pinned it.
        let is_named = names_itself || (code.is_some() && !matches!(run.what, What::Pinned(_)));
        let holder = Holder { what: title(&run.what), code, is_named, names_itself };
        let next = self.all.len() as HolderId;
        let id = *self.known.entry(holder.clone()).or_insert(next);
        if id == next {
            self.all.push(holder);
        }
        self.by_key.insert(key, id);
        id
    }

    pub(super) fn get(&self, id: HolderId) -> &Holder {
        &self.all[id as usize]
    }

    pub(super) fn len(&self) -> usize {
        self.all.len()
    }
}

/// Returns what pages are, in words.
pub(super) fn title(what: &What) -> String {
    match what {
        What::Slab(Some(cache)) => format!("slab {cache}"),
        What::Slab(None) => "slab".to_owned(),
        What::PageTable => "page tables".to_owned(),
        What::KernelStack => "kernel stacks".to_owned(),
        What::Zsmalloc => "zsmalloc".to_owned(),
        What::LargeKmalloc => "large kmalloc".to_owned(),
        What::Hugetlb => "hugetlb pages".to_owned(),
        What::Offline => "ballooned or offline pages".to_owned(),
        What::Charged(cgroup) => format!("kernel pages charged to {cgroup}"),
        What::Pinned(pin) => pinned(pin),
        What::Kernel => "kernel pages".to_owned(),
    }
}

fn pinned(pin: &Pin) -> String {
    let owner = match pin.owner.as_deref() {
        Some(PinOwner::Process { pid, name }) => format!(" of {name} ({pid})"),
        Some(PinOwner::Cgroup(cgroup)) => format!(" charged to {cgroup}"),
        None => String::new(),
    };
    let how = if pin.is_user_pin { "pinned as by io_uring or RDMA" } else { "referred to as by a pipe" };
    format!("pages{owner}, {how}")
}
