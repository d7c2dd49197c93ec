// A count that leaves zero sets the bit of its order, one that comes back to
// zero clears it. An empty zone has no bit set.
// places 6.12, 6.18, 7.2, 7.3: mm/free_counts.h (top), mm/free_counts.h free_counts_add, mm/free_counts.h free_counts_del
// places 6.12, 6.18, 7.2, 7.3: mm/free_counts.h free_counts_move, mm/free_counts.h free_counts_reset

@ include_orders @
@@
 #include <linux/mmzone.h>
+
+#include "free_orders.h"

@ add @
identifier z, order, type, area;
@@
 free_counts_add(struct zone *z, unsigned int order, int type)
 {
 ...
 area->nr_free_type[type]++;
+free_orders_set(z, order, type);
 }

@ del @
identifier z, order, type, area;
@@
 free_counts_del(struct zone *z, unsigned int order, int type)
 {
 ...
 area->nr_free_type[type]--;
+free_orders_clear(z, order, type);
 }

@ move @
identifier z, order, from, to, area;
@@
 free_counts_move(struct zone *z, unsigned int order, int from, int to)
 {
 ...
 area->nr_free_type[from]--;
+free_orders_set(z, order, to);
+free_orders_clear(z, order, from);
 }

@ reset @
identifier z, order, type;
statement S;
@@
 free_counts_reset(struct zone *z, unsigned int order)
 {
 ...
 for (type = 0; type < MIGRATE_TYPES; type++)
 S
+free_orders_reset(z, order);
 }
