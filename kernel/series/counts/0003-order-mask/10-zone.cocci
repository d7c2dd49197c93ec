// A zone knows, by migratetype, which orders have free blocks. The masks lie
// before the padding: checks without the lock read them, and the line of the
// first free lists is written at every allocation that reaches these.
// places 6.12, 6.18, 7.2, 7.3: include/linux/mmzone.h struct zone

@ orders_of_zone @
@@
struct zone {
	...
	int initialized;
+
+	/* a bit for each order that has free blocks of the type */
+	unsigned int free_orders[MIGRATE_TYPES];
	...
};
