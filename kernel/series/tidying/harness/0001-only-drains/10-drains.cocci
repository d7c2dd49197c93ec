// Drains are counted, and take the place of tidying where that is asked for.
// places 7.3: mm/pageblock_tidying.c (top), mm/pageblock_tidying.c pageblock_tidying_is_on
// places 7.3: mm/pageblock_tidying.c tidy_pageblock, mm/pageblock_tidying.c tidy_zone, mm/pageblock_tidying.c tidy_zone
// places 7.3: mm/pageblock_tidying.c tidy_pageblocks

@ include_drains @
@@
 #include "pageblock_claim.h"
+#include "pageblock_drains.h"

@ is_on @
expression E;
@@
 pageblock_tidying_is_on(void)
 {
-return E;
+return pageblock_only_drains() || (E);
 }

@ all_drained @
expression zone;
@@
 tidy_pageblock(...)
 {
 <...
-drain_all_pages(zone);
+pageblock_drain(zone);
 ...>
 }

@ drained_here @
expression zone;
@@
 tidy_zone(...)
 {
 <...
-lru_add_drain_cpu_zone(zone);
+{
+	count_vm_event(TIDY_DRAINED_HERE);
+	lru_add_drain_cpu_zone(zone);
+}
 ...>
 }

@ only_drained @
typedef pg_data_t;
identifier pgdat;
expression budget, E;
@@
 tidy_pageblocks(pg_data_t *pgdat)
 {
 ... when any
+if (pageblock_only_drains()) {
+	pageblock_drain_node(pgdat);
+	return;
+}
 earn(budget, E);
 ... when any
 }
