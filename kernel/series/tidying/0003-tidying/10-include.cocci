// What tidying takes from the allocator, and compaction from tidying.
// places 7.3: mm/page_alloc.c (top), mm/compaction.c (top)

@ include_tidying @
@@
 #include "page_alloc.h"
+#include "pageblock_tidying.h"
