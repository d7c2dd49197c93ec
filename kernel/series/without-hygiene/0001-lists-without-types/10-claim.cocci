// A fallback moves all free pages of the pageblock to the requested type's
// lists, also if it does not claim the pageblock.
// places 6.12: mm/page_alloc.c try_to_steal_block

@ claim @
expression enough;
identifier zone, start_pfn, page, order, from, to;
@@
 try_to_steal_block(struct zone *zone, struct page *page, ...)
 {
 ... when any
-if (enough) {
-	__move_freepages_block(zone, start_pfn, from, to);
-	return __rmqueue_smallest(zone, order, to);
-}
-
-return NULL;
+__move_freepages_block(zone, start_pfn, from, to);
+if (!(enough))
+	set_pageblock_migratetype(page, from);
+return __rmqueue_smallest(zone, order, to);
 }
