// A block that changes lists is counted from one type to the other; the total
// stays.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c move_to_free_list

@ move @
identifier p, z, order, from, to;
@@
 move_to_free_list(struct page *p, struct zone *z, unsigned int order,
		   int from, int to)
 {
 ...
 list_move_tail(...);
+free_counts_move(z, order, from, to);
 ...
 }
