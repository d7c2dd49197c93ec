//! The code that made a request, from the lines of its stack.

/// Starts of the names of functions that are the allocators' own, or print the report.
const ALLOCATORS: [&str; 47] = [
    "dump_stack",
    "show_stack",
    "show_mem",
    "show_regs",
    "show_trace",
    "dump_backtrace",
    "unwind_",
    "dump_header",
    "warn_alloc",
    "warn_slowpath",
    "__warn",
    "report_bug",
    "handle_bug",
    "exc_",
    "asm_exc",
    "bug_handler",
    "do_error_trap",
    "do_trap",
    "early_brk64",
    "program_check",
    "__alloc_",
    "alloc_pages",
    "alloc_page",
    "alloc_frozen",
    "__get_free_pages",
    "__get_zeroed",
    "get_zeroed_page",
    "__folio_alloc",
    "folio_alloc",
    "vma_alloc",
    "___kmalloc",
    "__kmalloc",
    "kmalloc",
    "__do_kmalloc",
    "kvmalloc",
    "__kvmalloc",
    "kmem_",
    "__kmem",
    "new_slab",
    "allocate_slab",
    "alloc_slab",
    "___slab",
    "__slab",
    "cache_",
    "fallback_alloc",
    "__vmalloc",
    "vmalloc",
];
/// Further ones: those of the OOM killer, of page faults, of DMA, and of per-process policies.
const FURTHER: [&str; 42] = [
    "__netdev_alloc",
    "netdev_alloc",
    "napi_alloc",
    "out_of_memory",
    "oom_kill",
    "select_bad",
    "vzalloc",
    "vm_area_",
    "alloc_vmap",
    "get_vm_area",
    "__get_vm",
    "module_alloc",
    "krealloc",
    "kzalloc",
    "kcalloc",
    "dma_direct",
    "__dma_direct",
    "dma_alloc",
    "dmam_alloc",
    "__dma_alloc",
    "__iommu_dma",
    "iommu_dma",
    "swiotlb_alloc",
    "x86_swiotlb",
    "dma_generic",
    "mem_cgroup",
    "__mem_cgroup",
    "try_charge",
    "charge_memcg",
    "obj_cgroup",
    "memcg_",
    "pagefault_out",
    "page_frag_alloc",
    "slob_",
    "pcpu_alloc",
    "execmem_alloc",
    "page_fault",
    "async_page_fault",
    "do_page_fault",
    "__do_page_fault",
    "do_user_addr_fault",
    "mm_fault_error",
];

/// Returns the function of a line of a stack, unless the kernel is not sure of it or an allocator has it.
pub(super) fn caller(line: &str) -> Option<&str> {
    let (head, _) = line.split_once("+0x")?;
    let start =
        head.rfind(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).map_or(0, |at| at + 1);
    let name = head.get(start..).filter(|name| !name.is_empty() && name.len() <= 64)?;
    let is_guess = head[..start].contains('?');
    let name = name.trim_start_matches('.');
    let is_register =
        ["RIP", "PC is", "pc :", "LR is", "lr :", "NIP", "IP:"].iter().any(|key| line.contains(key));
    let is_allocator = ALLOCATORS.iter().chain(&FURTHER).any(|start| name.starts_with(start));
    (!is_guess && !is_register && !is_allocator).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn callers_are_found() {
        for (line, name) in [
            (" ath_rx_init+0x5e4/0x5e8 [ath]", Some("ath_rx_init")),
            ("[<ffffffff81128f44>] ath_rx_init+0x3d4/0x400", Some("ath_rx_init")),
            ("[c1c55aa0] [c01c4c80] zs_malloc+0x4b4/0x668", Some("zs_malloc")),
            (
                "[<c0092760>] (ath_rx_init+0xc4/0x11c) from [<c0094a70>] (ath_open+0x3e0/0x63c)",
                Some("ath_rx_init"),
            ),
            (" ? ath_rx_init+0x5e4/0x5e8", None),
            (" __alloc_pages_nodemask+0x2ec/0x320", None),
            ("RIP: 0010:ath_rx_init+0x5/0x6", None),
            ("Mem-Info:", None),
        ] {
            assert_eq!(caller(line), name, "{line}");
        }
    }
}
