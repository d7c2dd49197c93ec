// A pageblock that compaction turns movable keeps its other free pages on the
// lists that they are on.
// places 6.12: mm/page_alloc.c __isolate_free_page

@ isolate @
identifier zone, page, mt;
@@
 __isolate_free_page(...)
 {
 <+...
-move_freepages_block(zone, page, mt, MIGRATE_MOVABLE);
+set_pageblock_migratetype(page, MIGRATE_MOVABLE);
 ...+>
 }
