// So does the search for a page to steal, smallest order first.
// places 6.12: mm/page_alloc.c __rmqueue_steal
// places 7.3: mm/page_alloc.c __rmqueue_steal

@ steal @
iterator name for_each_fallback_order;
identifier z, order, wanted, type;
statement S;
@@
 __rmqueue_steal(struct zone *z, int wanted, int type)
 {
 ...
-for (order = wanted; order < NR_PAGE_ORDERS; order++)
+for_each_fallback_order(order, z, wanted, fallbacks[type])
 S
 ...
 }
