// The search for a block to claim, largest order first, passes over the orders
// in which no fallback type has a block.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c __rmqueue_claim, mm/page_alloc.c __rmqueue_claim

@ claim @
identifier z, order, wanted, type, flags, least, page;
statement S;
@@
 __rmqueue_claim(struct zone *z, int wanted, int type, unsigned int flags)
 {
 ... when any
 struct page *page;
+const int *types = fallbacks[type];
 ... when any
-for (order = MAX_PAGE_ORDER; order >= least; --order)
+for (order = last_fallback_order(z, NR_PAGE_ORDERS, types);
+     order >= least;
+     order = last_fallback_order(z, order, types))
 S
 ... when any
 }
