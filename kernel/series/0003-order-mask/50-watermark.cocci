// The watermark check asks three masks (five at most) in place of up to five
// lists for each order.
// places 6.12: mm/page_alloc.c __zone_watermark_ok
// places 7.3: mm/page_alloc.c __zone_watermark_ok

@ watermark @
identifier z, order, flags, pages, o;
statement S;
@@
 __zone_watermark_ok(struct zone *z, unsigned int order, ...,
		     unsigned int flags, long pages)
 {
 <...
+if (IS_ENABLED(CONFIG_FREE_COUNTS))
+	return free_orders_suffice(z, order, flags & ALLOC_CMA,
+				   flags & (ALLOC_HIGHATOMIC | ALLOC_OOM));
 for (o = order; o < NR_PAGE_ORDERS; o++)
 S
 ...>
 }
