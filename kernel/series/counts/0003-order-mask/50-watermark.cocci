// The watermark check asks three masks (five at most) in place of up to five
// lists for each order.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c __zone_watermark_ok, mm/page_alloc.c __zone_watermark_ok

@ counter @
identifier z, order, mark, o;
@@
 __zone_watermark_ok(struct zone *z, unsigned int order, unsigned long mark, ...)
 {
 long min = mark;
-int o;
 ... when any
 }

@ watermark @
identifier z, order, flags, pages, o;
statement S;
@@
 __zone_watermark_ok(struct zone *z, unsigned int order, ...,
		     unsigned int flags, long pages)
 {
 ... when any
-for (o = order; o < NR_PAGE_ORDERS; o++)
-S
-return false;
+return free_orders_suffice(z, order, flags & ALLOC_CMA,
+			   flags & (ALLOC_HIGHATOMIC | ALLOC_OOM));
 }
