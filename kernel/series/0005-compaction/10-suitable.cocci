// Free pages that the free scanner would pass over do not count when it is
// asked whether compacting a zone for a costly order has a chance.
// places 6.12: mm/compaction.c __compaction_suitable
// places 7.3: mm/compaction.c __compaction_suitable

@ suitable @
identifier z, order, pages;
@@
 __compaction_suitable(struct zone *z, int order, ..., unsigned long pages)
 {
 ...
+if (order > PAGE_ALLOC_COSTLY_ORDER)
+	pages -= min(pages, free_pages_out_of_reach(z));
 return __zone_watermark_ok(...);
 }
