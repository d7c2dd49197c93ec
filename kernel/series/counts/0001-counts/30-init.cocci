// An empty zone has nothing of any type.
// places 6.12, 6.18, 7.2, 7.3: mm/mm_init.c zone_init_free_lists

@ reset @
expression zone, order;
@@
-zone->free_area[order].nr_free = 0;
+free_counts_reset(zone, order);
