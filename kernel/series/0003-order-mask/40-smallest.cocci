// The smallest order that has a block of the type is a bit scan away.
// places 6.12: mm/page_alloc.c __rmqueue_smallest
// places 7.3: mm/page_alloc.c __rmqueue_smallest

@ smallest @
iterator name for_each_free_order;
identifier z, least, type, order;
statement S;
@@
 __rmqueue_smallest(struct zone *z, unsigned int least, int type)
 {
 ...
-for (order = least; order < NR_PAGE_ORDERS; ++order)
+for_each_free_order(order, z, least, type)
 S
 ...
 }
