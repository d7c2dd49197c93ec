/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Reads the page allocator's free lists without the zone lock.
 *
 * Each program is of type `syscall`: it runs once when it is asked to, in the caller's task, and with
 * interrupts on. None of them writes to the kernel. The programs of locate.h find the zones, those of
 * count.h, pages.h, pins.h, stacks.h,
 * pageblock_types.h and lists.h read what is in them. All numbers of a message are u64, so that the other side
 * needs no layout; it is crates/linux/src/sensor/bpf/messages.rs.
 */
#include "kernel.h"
#include "maps.h"
#include "locate.h"
#include "count.h"
#include "pages.h"
#include "pins.h"
#include "stacks.h"
#include "pageblock_types.h"
#include "lists.h"

char LICENSE[] SEC("license") = "GPL";
