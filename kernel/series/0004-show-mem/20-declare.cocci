// The report is known where the counts are; without counts it says nothing.
// places 6.12: mm/free_counts.h (top)
// places 7.3: mm/free_counts.h (top)

@ declare @
@@
 #include "free_orders.h"
+
+#ifdef CONFIG_FREE_COUNTS
+void free_counts_show(struct zone *zone);
+#else
+static inline void free_counts_show(struct zone *zone)
+{
+}
+#endif
