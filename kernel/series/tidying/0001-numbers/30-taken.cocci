// Pages leave for the per-CPU lists, for a request, and for compaction, whose
// targets are movable.
// places 7.3: mm/page_alloc.c rmqueue_bulk, mm/page_alloc.c rmqueue_buddy
// places 7.3: mm/page_alloc.c __isolate_free_page

@ bulk @
identifier z, order, count, list, type, flags, page;
@@
 rmqueue_bulk(struct zone *z, unsigned int order, unsigned long count, struct list_head *list, int type, unsigned int flags)
 {
 <...
+pageblock_use_taken(z, page, order, type);
 list_add_tail(&page->pcp_list, list);
 ...>
 }

@ buddy @
identifier preferred, z, order, flags, type, page, saved;
statement S;
@@
 rmqueue_buddy(struct zone *preferred, struct zone *z, unsigned int order, unsigned int flags, int type)
 {
 <...
 if (!page) S
+pageblock_use_taken(z, page, order, type);
 spin_unlock_irqrestore(&z->lock, saved);
 ...>
 }

@ isolate @
identifier page, order, z, mt;
@@
 __isolate_free_page(struct page *page, unsigned int order)
 {
 ...
 del_page_from_free_list(page, z, order, mt);
+if (!is_migrate_isolate(mt))
+	pageblock_use_taken(z, page, order, MIGRATE_MOVABLE);
 ... when any
 }
