// kcompactd tidies while it waits for work.
// places 7.3: mm/compaction.c kcompactd

@ wait @
expression pgdat, timeout;
statement S;
@@
 kcompactd(...)
 {
 <...
-if (wait_event_freezable_timeout(pgdat->kcompactd_wait, kcompactd_work_requested(pgdat), timeout) && !pgdat->proactive_compact_trigger)
+if (kcompactd_wait_tidying(pgdat, timeout) &&
+    !pgdat->proactive_compact_trigger)
 S
 ...>
 }
