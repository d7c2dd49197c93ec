// Whether a list is empty is told by its count.
// places 6.12: mm/internal.h free_area_empty
// places 7.3: mm/page_alloc.h free_area_empty

@ empty @
identifier area, type;
@@
 free_area_empty(struct free_area *area, int type)
 {
+	if (IS_ENABLED(CONFIG_FREE_COUNTS))
+		return !free_area_nr_free_type(area, type);
 	return list_empty(...);
 }
