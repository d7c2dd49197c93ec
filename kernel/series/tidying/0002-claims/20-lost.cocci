// A pageblock that keeps pages like the wanted ones may be claimed with less
// of it free.
// places 7.3: mm/page_alloc.c try_to_claim_block

@ lost @
identifier z, page, found, order, start_type, block_type, flags, free_pages, alike_pages;
expression half;
statement S;
@@
 try_to_claim_block(struct zone *z, struct page *page, int found, int order, int start_type, int block_type, unsigned int flags)
 {
 ... when any
+if (pageblock_is_lost(start_type, free_pages, alike_pages))
+	alike_pages = pageblock_nr_pages - free_pages;
 if (free_pages + alike_pages >= half || page_group_by_mobility_disabled) S
 ... when any
 }
