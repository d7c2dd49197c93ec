// A pageblock that keeps pages like the wanted ones may be claimed with less
// of it free.
// places 7.3: mm/page_alloc.c try_to_claim_block

@ lost @
identifier z, page, found, order, start_type, block_type, flags;
expression free_pages, alike_pages, half;
@@
 try_to_claim_block(struct zone *z, struct page *page, int found, int order, int start_type, int block_type, unsigned int flags)
 {
 <...
-free_pages + alike_pages >= half ||
+free_pages + alike_pages >= half ||
+pageblock_is_lost(start_type, free_pages, alike_pages) ||
 page_group_by_mobility_disabled
 ...>
 }
