// Who wants to know the total asks for it: it may have to be added up.
// places 6.12, 6.18, 7.2, 7.3: mm/page_alloc.c find_suitable_fallback, mm/page_alloc.c __zone_watermark_ok
// places 6.12, 6.18, 7.2, 7.3: mm/page_reporting.c page_reporting_cycle, mm/show_mem.c show_free_areas

@ total @
identifier area;
@@
-area->nr_free
+free_area_nr_free(area)
