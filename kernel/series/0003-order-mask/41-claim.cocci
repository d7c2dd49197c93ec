// The search for a block to claim, largest order first, passes over the orders
// in which no fallback type has a block.
// places 6.12: mm/page_alloc.c __rmqueue_claim
// places 7.3: mm/page_alloc.c __rmqueue_claim

@ claim @
iterator name for_each_fallback_order_reverse;
identifier z, order, wanted, type, flags, least;
statement S;
@@
 __rmqueue_claim(struct zone *z, int wanted, int type, unsigned int flags)
 {
 ...
-for (order = MAX_PAGE_ORDER; order >= least; --order)
+for_each_fallback_order_reverse(order, z, least, fallbacks[type])
 S
 ...
 }
