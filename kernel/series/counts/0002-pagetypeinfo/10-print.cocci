// The table of free blocks is printed from the counts, without the lock.
// places 6.12, 6.18, 7.2, 7.3: mm/vmstat.c pagetypeinfo_showfree_print, mm/vmstat.c pagetypeinfo_showfree_print
// places 6.12, 6.18, 7.2, 7.3: mm/vmstat.c pagetypeinfo_showfree

@ print_counts @
iterator name list_for_each;
identifier m, pgdat, z, order, type, blocks, area, curr, overflow;
@@
 pagetypeinfo_showfree_print(struct seq_file *m, pg_data_t *pgdat, struct zone *z)
 {
 <...
-unsigned long blocks = 0;
-struct free_area *area;
-struct list_head *curr;
-bool overflow = false;
-area = &(z->free_area[order]);
-list_for_each(curr, &area->free_list[type]) { ... }
-seq_printf(m, ..., blocks);
-spin_unlock_irq(&z->lock);
-cond_resched();
-spin_lock_irq(&z->lock);
+struct free_area *area = &z->free_area[order];
+unsigned long blocks = free_area_peek_nr_free_type(area, type);
+
+/* From here on the file has always said ">100000". */
+if (blocks >= 100000)
+	seq_putc(m, '>');
+seq_printf(m, "%6lu ", min(blocks, 100000UL));
 ...>
 }

@ without_lock @
expression m, pgdat;
@@
-walk_zones_in_node(m, pgdat, true, false, pagetypeinfo_showfree_print);
+walk_zones_in_node(m, pgdat, true, true, pagetypeinfo_showfree_print);
