// After each movement the lists and the counts agree: a place to check it.
// places 6.12, 6.18, 7.2, 7.3: mm/free_counts.h (top), mm/free_counts.h free_counts_add
// places 6.12, 6.18, 7.2, 7.3: mm/free_counts.h free_counts_del, mm/free_counts.h free_counts_move

@ include_check @
@@
 #include "free_orders.h"
+#include "free_counts_check.h"

@ add @
identifier z, order, type;
@@
 free_counts_add(struct zone *z, unsigned int order, int type)
 {
 ...
 free_orders_set(z, order, type);
+free_counts_checkpoint(z);
 }

@ del @
identifier z, order, type;
@@
 free_counts_del(struct zone *z, unsigned int order, int type)
 {
 ...
 free_orders_clear(z, order, type);
+free_counts_checkpoint(z);
 }

@ move @
identifier z, order, from, to;
@@
 free_counts_move(struct zone *z, unsigned int order, int from, int to)
 {
 ...
 free_orders_clear(z, order, from);
+free_counts_checkpoint(z);
 }
