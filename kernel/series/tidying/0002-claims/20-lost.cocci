// A pageblock that keeps pages like the wanted ones may be claimed with less
// of it free.
// places 7.3: mm/page_alloc.c try_to_claim_block

@ lost @
identifier z, page, found, order, start_type, block_type, flags, start_pfn;
expression E;
@@
 try_to_claim_block(struct zone *z, struct page *page, int found, int order, int start_type, int block_type, unsigned int flags)
 {
 ... when any
+if (pageblock_is_lost(start_type, free_pages, alike_pages))
+	alike_pages = pageblock_nr_pages - free_pages;
 if (E) {
 __move_freepages_block(z, start_pfn, block_type, start_type);
 ...
 }
 ... when any
 }
