// The printer is known where the counts are.
// places 6.12: mm/free_counts.h (top)
// places 7.3: mm/free_counts.h (top)

@ declare @
@@
 #include <linux/mmzone.h>
+
+struct seq_file;
+
+void free_counts_print(struct seq_file *m, pg_data_t *pgdat, struct zone *z);
