// The masks are where the line of the first free lists begins.
// places 6.12, 6.18, 7.2, 7.3: include/linux/mmzone.h struct zone, include/linux/mmzone.h struct zone, include/linux/mmzone.h struct zone

@ place @
@@
struct zone {
	...
+#ifndef CONFIG_FREE_ORDERS_BY_LISTS
	unsigned int free_orders[MIGRATE_TYPES];
+#endif
	...
+#ifdef CONFIG_FREE_ORDERS_BY_LISTS
+	unsigned int free_orders[MIGRATE_TYPES];
+#endif
	struct free_area free_area[NR_PAGE_ORDERS];
	...
};
