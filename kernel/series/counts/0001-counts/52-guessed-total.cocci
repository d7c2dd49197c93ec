// Compaction guesses which orders are worth a look before it takes the lock.
// places 6.12, 6.18, 7.2, 7.3: mm/compaction.c fast_isolate_freepages, mm/compaction.c fast_find_migrateblock

@ guess @
identifier area;
@@
-area->nr_free
+free_area_peek_nr_free(area)
