// So does the search for a page to steal, smallest order first.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c __rmqueue_steal, mm/page_alloc.c __rmqueue_steal

@ steal @
identifier z, order, wanted, type, page;
statement S;
@@
 __rmqueue_steal(struct zone *z, int wanted, int type)
 {
 ... when any
 struct page *page;
+const int *types = fallbacks[type];
 ... when any
-for (order = wanted; order < NR_PAGE_ORDERS; order++)
+for (order = next_fallback_order(z, wanted, types);
+     order < NR_PAGE_ORDERS;
+     order = next_fallback_order(z, order + 1, types))
 S
 ... when any
 }
