// A block that comes back is no longer of those that left for movable
// requests; one that a compacting task captures on its way leaves again.
// places 7.3: mm/page_alloc.c __free_one_page, mm/page_alloc.c compaction_capture

@ returned @
identifier p, pfn, z, order, type, flags;
expression E;
statement S;
@@
 __free_one_page(struct page *p, unsigned long pfn, struct zone *z, unsigned int order, int type, fpi_t flags)
 {
 ...
 account_freepages(z, 1 << order, type);
+pageblock_use_returned(z, pfn, order);
 while (E) S
 ...
 }

@ captured @
identifier capc, p, order, type;
@@
 compaction_capture(struct capture_control *capc, struct page *p, int order, int type)
 {
 ... when any
 capc->page = p;
+pageblock_use_taken(capc->zone, p, order, capc->migratetype);
 ...
 }
