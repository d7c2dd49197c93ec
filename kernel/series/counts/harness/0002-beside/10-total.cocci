// The total stays, and the counts are kept beside it.
// places 6.12, 6.18, 7.2, 7.3: include/linux/mmzone.h struct free_area, mm/free_counts.h free_area_nr_free, mm/free_counts.h free_area_nr_free
// places 6.12, 6.18, 7.2, 7.3: mm/free_counts.h free_counts_add, mm/free_counts.h free_counts_del, mm/free_counts.h free_counts_reset

@ total @
@@
struct free_area {
	...
	unsigned long nr_free_type[MIGRATE_TYPES];
+#ifdef CONFIG_FREE_COUNTS_BESIDE_TOTAL
+	unsigned long nr_free;
+#endif
};

@ kept @
identifier area, blocks, type;
@@
 free_area_nr_free(const struct free_area *area)
 {
+#ifdef CONFIG_FREE_COUNTS_BESIDE_TOTAL
+	return area->nr_free;
+#else
 unsigned long blocks = 0;
 int type;
 for (...;...;...)
 blocks += area->nr_free_type[type];
 return blocks;
+#endif
 }

@ add @
identifier z, order, type, area;
@@
 free_counts_add(struct zone *z, unsigned int order, int type)
 {
 ...
 area->nr_free_type[type]++;
+#ifdef CONFIG_FREE_COUNTS_BESIDE_TOTAL
+	area->nr_free++;
+#endif
 ...
 }

@ del @
identifier z, order, type, area;
@@
 free_counts_del(struct zone *z, unsigned int order, int type)
 {
 ...
 area->nr_free_type[type]--;
+#ifdef CONFIG_FREE_COUNTS_BESIDE_TOTAL
+	area->nr_free--;
+#endif
 ...
 }

@ reset @
identifier z, order, area;
@@
 free_counts_reset(struct zone *z, unsigned int order)
 {
 struct free_area *area = &z->free_area[order];
 ...
+#ifdef CONFIG_FREE_COUNTS_BESIDE_TOTAL
+	area->nr_free = 0;
+#endif
 free_orders_reset(z, order);
 }
