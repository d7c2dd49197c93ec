// The next larger order that has a block of the type is a bit scan away. The
// list of the wanted order is looked at first: most of the time it has one.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c __rmqueue_smallest

@ smallest @
identifier z, least, type, order;
statement S;
@@
 __rmqueue_smallest(struct zone *z, unsigned int least, int type)
 {
 ...
-for (order = least; order < NR_PAGE_ORDERS; ++order)
+for (order = least; order < NR_PAGE_ORDERS;
+     order = next_free_order(z, order + 1, type))
 S
 ...
 }
