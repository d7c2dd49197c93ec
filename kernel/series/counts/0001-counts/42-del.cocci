// A block that leaves a list is no longer counted.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c __del_page_from_free_list

@ del @
identifier p, z, order, type;
@@
 __del_page_from_free_list(struct page *p, struct zone *z,
			   unsigned int order, int type)
 {
 ...
-z->free_area[order].nr_free--;
+free_counts_del(z, order, type);
 ...
 }
