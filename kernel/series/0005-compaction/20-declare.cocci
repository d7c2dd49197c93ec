// What is out of reach is added up where the counts are.
// places 6.12: mm/free_counts.h (top)
// places 7.3: mm/free_counts.h (top)

@ declare @
@@
 #include "free_counts_show.h"
+#include "free_reach.h"
