// The report is known where the counts are.
// places 6.12: mm/free_counts.h (top)
// places 7.3: mm/free_counts.h (top)

@ declare @
@@
 #include "free_orders.h"
+#include "free_counts_show.h"
