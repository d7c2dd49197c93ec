// Pageblocks that are partly in use are claimed before the loop that begins
// with free ones.
// places 7.3: mm/page_alloc.c __rmqueue_claim

@ used_first @
identifier z, order, type, flags, found, least, page, fallback;
statement S, T;
@@
 __rmqueue_claim(struct zone *z, int order, int type, unsigned int flags)
 {
 ... when any
 struct page *page;
 int fallback;
 ... when any
 if (order < pageblock_order && flags & ALLOC_NOFRAGMENT) S
+page = NULL;
+if (pageblock_use_counted() && !(flags & ALLOC_NOFRAGMENT))
+	page = pageblock_to_claim(z, order, type, fallbacks[type],
+				      &found, &fallback);
+if (page)
+	page = try_to_claim_block(z, page, found, order, type, fallback, flags);
+if (page) {
+	trace_mm_page_alloc_extfrag(page, order, found, type, fallback);
+	return page;
+}
 for (found = MAX_PAGE_ORDER; found >= least; --found) T
 ... when any
 }
