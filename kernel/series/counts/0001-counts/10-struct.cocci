// The counts live beside the lists that they count; the total is their sum.
// places 6.12, 6.18, 7.2, 7.3: include/linux/mmzone.h struct free_area

@ counts_beside_lists @
@@
struct free_area {
	...
-	unsigned long nr_free;
+	unsigned long nr_free_type[MIGRATE_TYPES];
};
