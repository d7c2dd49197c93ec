// A zone knows, by migratetype, which orders have free blocks.
// places 6.12: include/linux/mmzone.h struct zone
// places 7.3: include/linux/mmzone.h struct zone

@ orders_of_zone @
@@
struct zone {
	...
+#ifdef CONFIG_FREE_COUNTS
+	/* a bit for each order that has free blocks of the type */
+	unsigned int free_orders[MIGRATE_TYPES];
+
+#endif
	struct free_area free_area[NR_PAGE_ORDERS];
	...
};
