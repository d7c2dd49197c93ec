// kcompactd tidies while it waits for work.
// places 7.3: mm/compaction.c kcompactd

@ wait @
expression pgdat, timeout;
@@
 kcompactd(...)
 {
 <...
-wait_event_freezable_timeout(pgdat->kcompactd_wait, kcompactd_work_requested(pgdat), timeout)
+kcompactd_wait_tidying(pgdat, timeout)
 ...>
 }
