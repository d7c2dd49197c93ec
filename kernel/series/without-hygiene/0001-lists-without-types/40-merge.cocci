// Free pageblocks of different types merge and keep their types.
// places 6.12: mm/page_alloc.c __free_one_page

@ keep_types @
identifier buddy, buddy_mt, order, migratetype;
@@
 __free_one_page(...)
 {
 <+...
-if (unlikely(buddy_mt != migratetype)) {
-	change_pageblock_range(buddy, order, migratetype);
-}
 ...+>
 }
