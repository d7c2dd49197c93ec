// Whoever looks at free lists in mm/ sees the counts too.
// places 6.12: mm/internal.h (top)

@ include_counts @
@@
 #include "vma.h"
+#include "free_counts.h"
