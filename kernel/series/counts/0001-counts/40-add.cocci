// A block that comes to a list is counted as one of the list's type.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c __add_to_free_list

@ add @
identifier p, z, order, type, tail, area;
@@
 __add_to_free_list(struct page *p, struct zone *z, unsigned int order,
		    int type, bool tail)
 {
 ...
-area->nr_free++;
+free_counts_add(z, order, type);
 ...
 }
