// Whoever looks at free lists in mm/ sees the counts too.
// places 7.3: mm/page_alloc.h (top)

@ include_counts @
@@
 #include <linux/types.h>
+
+#include "free_counts.h"
