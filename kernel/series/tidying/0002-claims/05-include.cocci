// What finds and judges a pageblock to claim.
// places 7.3: mm/page_alloc.c (top)

@ include_claim @
@@
-#include "pageblock_use.h"
+#include "pageblock_claim.h"
