// The counts live beside the lists that they count. The total is left out
// where it is derived.
// places 6.12: include/linux/mmzone.h struct free_area, include/linux/mmzone.h struct free_area
// places 7.3: include/linux/mmzone.h struct free_area, include/linux/mmzone.h struct free_area

@ counts_beside_lists @
@@
struct free_area {
	...
+#ifndef CONFIG_FREE_COUNTS_DERIVED_TOTAL
	unsigned long nr_free;
+#endif
+#ifdef CONFIG_FREE_COUNTS
+	unsigned long nr_free_type[MIGRATE_TYPES];
+#endif
};
