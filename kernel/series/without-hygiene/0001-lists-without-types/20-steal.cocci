// What is left of a block that was split for a fallback goes to the requested
// type's lists.
// places 6.12: mm/page_alloc.c __rmqueue_steal

@ steal @
identifier zone, wanted, type, page, order, from;
@@
 __rmqueue_steal(struct zone *zone, int wanted, int type)
 {
 <+...
-page_del_and_expand(zone, page, wanted, order, from);
+move_to_free_list(page, zone, order, from, type);
+page_del_and_expand(zone, page, wanted, order, type);
 ...+>
 }
