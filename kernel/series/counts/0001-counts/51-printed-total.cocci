// The same for those who read it without the lock to print it.
// places 6.12, 6.18, 7.2, 7.3: mm/vmstat.c fill_contig_page_info, mm/vmstat.c frag_show_print

@ printed @
expression zone, order;
@@
-data_race(zone->free_area[order].nr_free)
+free_area_peek_nr_free(&zone->free_area[order])
