// The numbers of a pageblock take the place of a walk over its pages.
// places 7.3: mm/page_alloc.c prep_move_freepages_block

@ numbers @
identifier z, page, start_pfn, num_free, num_movable;
@@
 prep_move_freepages_block(struct zone *z, struct page *page, unsigned long *start_pfn, int *num_free, int *num_movable)
 {
 ...
-if (num_free)
+if (num_free && !pageblock_use_read(z, *start_pfn, num_free, num_movable))
 {
 ...
 }
 ...
 }
