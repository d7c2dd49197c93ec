/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the programs know of the running kernel: only names. Where a field is, how large a structure is and
 * which value a constant has is filled in from the kernel's own BTF when the programs are loaded, so an
 * array's size below means nothing. Linux 5.17 is the oldest that is looked for: earlier ones have no
 * bpf_loop.
 */
#ifndef FREEHOLD_KERNEL_H
#define FREEHOLD_KERNEL_H

typedef unsigned char __u8;
typedef unsigned short __u16;
typedef unsigned int __u32;
typedef unsigned long long __u64;
typedef signed int __s32;
typedef signed long long __s64;
typedef __u16 __be16;
typedef __u32 __be32;
typedef __u32 __wsum;

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

typedef __u8 u8;
typedef __u32 u32;
typedef __u64 u64;

/* The number of BPF_MAP_TYPE_ARRAY, which is the same on every kernel. */
#define ARRAY_MAP 2

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct list_head {
	struct list_head *next, *prev;
};

struct free_area {
	struct list_head free_list[6];
	unsigned long nr_free;
};

struct pglist_data;

struct zone {
	struct pglist_data *zone_pgdat;
	unsigned long zone_start_pfn;
	unsigned long spanned_pages;
	unsigned long present_pages;
	const char *name;
	struct free_area free_area[11];
	struct per_cpu_pages *per_cpu_pageset;
	unsigned long _watermark[4];
	unsigned long watermark_boost;
	unsigned long nr_reserved_highatomic;
	unsigned long flags;
	unsigned int compact_considered;
	unsigned int compact_defer_shift;
	int compact_order_failed;
	unsigned long compact_cached_free_pfn;
	unsigned long compact_cached_migrate_pfn[2];
	_Bool compact_blockskip_flush;
};

struct per_cpu_pages {
	int count;
	int high;
	int high_min;
	int high_max;
	int batch;
	u8 flags;
	u8 alloc_factor;
	short free_factor;
	short free_count;
	struct list_head lists[14];
};

struct mem_section_usage {
	unsigned long pageblock_flags[0];
};

struct mem_section {
	struct mem_section_usage *usage;
};

struct bpf_array {
	void *pptrs[0];
};

struct pglist_data {
	struct zone node_zones[5];
	int node_id;
	unsigned long first_deferred_pfn;
};

typedef struct {
	int counter;
} atomic_t;

struct page {
	unsigned long flags;
	struct list_head buddy_list;
	unsigned long compound_head;
	unsigned int page_type;
	unsigned long index;
	struct address_space *mapping;
	atomic_t _mapcount;
	atomic_t _refcount;
};

typedef struct {
	unsigned long f;
} memdesc_flags_t;

/* Since 6.18 the flags are a structure of their own. */
struct page___memdesc {
	memdesc_flags_t flags;
};

/* What a page of several frames notes in its second one; `_large_mapcount` since 6.10. */
struct folio {
	unsigned long _flags_1;
	atomic_t _large_mapcount;
	atomic_t _pincount;
};

/* What older kernels call the link of a free page. */
struct page___lru {
	struct list_head lru;
};

/* What newer kernels call `compound_head`. */
struct page___info {
	unsigned long compound_info;
};

/* What a kernel has that counts free blocks by type and keeps no total. */
struct free_area___by_type {
	unsigned long nr_free_type[6];
};

struct kmem_cache {
	const char *name;
	struct list_head list;
};

struct slab {
	struct kmem_cache *slab_cache;
};

struct kthread {
	void *data;
};

struct xarray {
	void *xa_head;
};

struct address_space {
	struct xarray i_pages;
};

struct file {
	struct address_space *f_mapping;
};

struct fdtable {
	struct file **fd;
};

struct files_struct {
	struct fdtable *fdt;
};

struct vm_struct {
	struct page **pages;
	unsigned int nr_pages;
};

struct signal_struct {
	struct list_head thread_head;
};

struct task_struct {
	unsigned int flags;
	int pid;
	char comm[16];
	struct list_head tasks;
	struct list_head thread_node;
	struct signal_struct *signal;
	struct task_struct *real_parent;
	struct task_struct *group_leader;
	void *worker_private;
	struct files_struct *files;
	struct vm_struct *stack_vm_area;
};

#pragma clang attribute pop

enum migratetype {
	MIGRATE_UNMOVABLE,
	MIGRATE_MOVABLE,
	MIGRATE_RECLAIMABLE,
	MIGRATE_HIGHATOMIC,
	MIGRATE_CMA,
	MIGRATE_ISOLATE,
};

/* Flags of a page. What marks a slab's first page is one up to 6.9, a type in the highest byte of `page_type` since 6.12. */
enum pageflags {
	PG_lru = 5,
	PG_head = 6,
	PG_slab = 7,
	PG_swapcache = 8,
	PG_private = 13,
	PG_private_2 = 14,
};

enum pagetype {
	PGTY_slab = 0xf5,
	PGTY_zsmalloc = 0xf6,
	PGTY_large_kmalloc = 0xf8,
};

enum pageblock_bits {
	PB_migrate_isolate = 4,
	__NR_PAGEBLOCK_BITS = 5,
};

/* Reads what is at `address`, or leaves `into` at zero; tells whether it could. */
#define PEEK(into, address) (bpf_probe_read_kernel(&(into), sizeof(into), (void *)(address)) == 0)

/* The address of a field of a structure at `address`. */
#define FIELD(address, type, field) ((u64)(address) + bpf_core_field_offset(struct type, field))

#endif
