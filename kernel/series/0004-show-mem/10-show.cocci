// The report of free memory says of which types the free blocks are.
// places 6.12: mm/show_mem.c show_free_areas
// places 7.3: mm/show_mem.c show_free_areas

@ show @
iterator name for_each_populated_zone;
identifier zone;
@@
 for_each_populated_zone(zone) {
 <...
 printk(..., K(total));
+free_counts_show(zone);
 ...>
 }
