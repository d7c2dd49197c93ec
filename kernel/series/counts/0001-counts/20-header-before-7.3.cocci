// Whoever looks at free lists in mm/ sees the counts too.
// places 6.12, 6.18, 7.2: mm/internal.h (top)

@ include_counts @
@@
 #include "vma.h"
+#include "free_counts.h"
