// What is to be freed is one batch.
// places 7.3: mm/page_alloc.c decay_pcp_high, mm/page_alloc.c free_frozen_page_commit

@ decay @
identifier batch;
@@
-to_drain_batched = min(to_drain, batch);
+to_drain_batched = to_drain;

@ commit @
identifier batch;
@@
-to_free_batched = min(to_free, batch);
+to_free_batched = to_free;
