// The table of pageblocks lets the lock go now and then. It is held where a
// struct page is looked at: offlining takes it before they vanish.
// places 6.12, 6.18, 7.2, 7.3: mm/vmstat.c pagetypeinfo_showblockcount_print, mm/vmstat.c pagetypeinfo_showblockcount_print

@ let_go @
identifier m, pgdat, z, pfn, end, page, type;
expression start;
@@
 pagetypeinfo_showblockcount_print(struct seq_file *m, pg_data_t *pgdat, struct zone *z)
 {
 int type;
+unsigned int looked = 0;
 ...
 for (pfn = start; pfn < end; pfn += pageblock_nr_pages) {
 struct page *page;
+
+if (!(++looked % 64)) {
+	spin_unlock_irq(&z->lock);
+	cond_resched();
+	spin_lock_irq(&z->lock);
+}
 ...
 }
 ...
 }
