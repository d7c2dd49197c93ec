//! Kernel stacks by their functions' names, each kept once.

use std::collections::HashMap;

/// The beginnings of the names of functions that allocate for their callers, so that none of them is who wants the memory.
///
/// Linux counterpart: the page allocator, slab, vmalloc, the per-CPU allocator, and what runs at a tracepoint. An address in no known
/// function is a BPF program's.
const ALLOCATORS: [&str; 48] = [
    "0x",
    "___kmalloc",
    "___slab_alloc",
    "__alloc_contig",
    "__alloc_frozen_pages",
    "__alloc_pages",
    "__alloc_percpu",
    "__bpf_trace",
    "__do_kmalloc",
    "__folio_alloc",
    "__get_free_page",
    "__kmalloc",
    "__kmem_cache_alloc",
    "__kvmalloc",
    "__pcs_replace",
    "__pfx_",
    "__refill",
    "__set_page_owner",
    "__slab_alloc",
    "__traceiter_mm_page",
    "__vmalloc",
    "alloc_contig",
    "alloc_from_pcs",
    "alloc_frozen_pages",
    "alloc_pages",
    "alloc_slab_page",
    "allocate_slab",
    "bpf_prog_",
    "bpf_trace_run",
    "folio_alloc",
    "get_free_pages",
    "get_page_from_freelist",
    "get_zeroed_page",
    "kmalloc",
    "kmem_cache_alloc",
    "krealloc",
    "kvmalloc",
    "kvrealloc",
    "kzalloc",
    "new_slab",
    "pcpu_",
    "post_alloc_hook",
    "prep_new_page",
    "refill_",
    "trace_event_",
    "vm_area_alloc_pages",
    "vma_alloc_",
    "vmalloc",
];

/// A stack's number in [`Stacks`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct StackId(u32);

/// Stacks, the innermost function of each first.
///
/// A function of a module is followed by the module's name in brackets, as in `/proc/kallsyms`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Stacks {
    stacks: Vec<Vec<String>>,
    known: HashMap<Vec<String>, StackId>,
}

impl Stacks {
    /// Keeps a stack. Returns the number of the stack that is equal to it.
    pub fn keep(&mut self, functions: Vec<String>) -> StackId {
        if let Some(known) = self.known.get(&functions) {
            return *known;
        }
        let id = StackId(self.stacks.len() as u32);
        self.stacks.push(functions.clone());
        self.known.insert(functions, id);
        id
    }

    /// Returns the functions of a stack, the innermost first; none for a number of other stacks.
    pub fn functions(&self, id: StackId) -> &[String] {
        self.stacks.get(id.0 as usize).map_or(&[], Vec::as_slice)
    }

    /// Returns the function that wanted the memory: the innermost that is no allocator's; without one the innermost.
    pub fn culprit(&self, id: StackId) -> Option<&str> {
        let functions = self.functions(id);
        functions.get(who_wants(functions)).map(String::as_str)
    }
}

/// Returns which function of a stack, the innermost first, wanted the memory: the innermost that is no allocator's; without one the
/// innermost.
pub fn who_wants(functions: &[String]) -> usize {
    let wants = |function: &String| !ALLOCATORS.iter().any(|allocator| function.starts_with(allocator));
    functions.iter().position(wants).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stack(functions: &[&str]) -> Vec<String> {
        functions.iter().map(|&function| function.to_owned()).collect()
    }

    #[test]
    fn who_wants_the_memory_is_no_allocator() {
        let mut stacks = Stacks::default();
        let pipe = stack(&["__alloc_pages_noprof", "alloc_pages_mpol_noprof", "pipe_write", "vfs_write"]);
        let slab =
            stack(&["new_slab", "___slab_alloc", "kmem_cache_alloc_lru_noprof", "ext4_alloc_inode [ext4]"]);
        let (pipe, slab) = (stacks.keep(pipe.clone()), stacks.keep(slab));
        let only = stacks.keep(stack(&["vmalloc_noprof"]));
        assert_eq!(stacks.culprit(pipe), Some("pipe_write"));
        assert_eq!(stacks.culprit(slab), Some("ext4_alloc_inode [ext4]"));
        assert_eq!(stacks.culprit(only), Some("vmalloc_noprof"));
        let none = stacks.keep(Vec::new());
        assert_eq!(stacks.culprit(none), None);
    }

    #[test]
    fn equal_stacks_are_kept_once() {
        let mut stacks = Stacks::default();
        let [one, other, again] = ["a", "b", "a"].map(|function| stacks.keep(stack(&[function])));
        assert_eq!((one, one == other), (again, false));
        assert_eq!(stacks.functions(other), ["b"]);
        assert!(ALLOCATORS.is_sorted(), "a list that is sorted is looked through with the eye");
    }
}
