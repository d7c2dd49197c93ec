// A pageblock counts the pages of the smaller free blocks in it: two functions
// are all that put a block on a list and take it off.
// places 7.3: mm/page_alloc.c (top), mm/page_alloc.c __add_to_free_list
// places 7.3: mm/page_alloc.c __del_page_from_free_list

@ include_use @
@@
 #include "page_reporting.h"
+#include "pageblock_use.h"

@ enter @
identifier p, z, order, type, tail, area;
@@
 __add_to_free_list(struct page *p, struct zone *z, unsigned int order, int type, bool tail)
 {
 ...
 area->nr_free++;
+pageblock_use_listed(z, p, order);
 ...
 }

@ leave @
identifier p, z, order, type;
@@
 __del_page_from_free_list(struct page *p, struct zone *z, unsigned int order, int type)
 {
 ...
 z->free_area[order].nr_free--;
+pageblock_use_unlisted(z, p, order);
 ...
 }
