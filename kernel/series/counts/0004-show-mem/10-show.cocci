// The report of free memory says, in one line a zone, of which types its free
// pages are, and how large the largest block of each is.
// places 6.12, 6.18, 7.2, 7.3: mm/show_mem.c show_free_areas, mm/show_mem.c show_free_areas, mm/show_mem.c show_free_areas

@ show @
iterator name for_each_populated_zone;
identifier zone, types, area, type;
expression order;
@@
 for_each_populated_zone(zone) {
 ...
 unsigned char types[NR_PAGE_ORDERS];
+unsigned long pages[MIGRATE_TYPES] = {};
+unsigned int largest[MIGRATE_TYPES];
+char text[MIGRATE_TYPES * 48];
+int mt = -1;
+int used = 0;
 <...
-if (!free_area_empty(area, type))
-	types[order] |= 1 << type;
+if (!area->nr_free_type[type])
+	continue;
+types[order] |= 1 << type;
+pages[type] += area->nr_free_type[type] << order;
+largest[type] = order;
 ...>
 }

@ say @
iterator name for_each_populated_zone;
identifier zone, total;
@@
 for_each_populated_zone(zone) {
 <...
 printk(..., K(total));
+text[0] = 0;
+while (++mt < MIGRATE_TYPES)
+	if (pages[mt])
+		used += scnprintf(text + used, sizeof(text) - used,
+				  " %s %lukB (to %lukB)",
+				  migratetype_names[mt], K(pages[mt]),
+				  K(1UL) << largest[mt]);
+pr_warn("Node %d %s by type:%s\n", zone_to_nid(zone), zone->name, text);
 ...>
 }
