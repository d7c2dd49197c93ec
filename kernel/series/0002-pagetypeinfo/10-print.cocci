// The table of free blocks is printed from the counts, and neither it nor the
// table of pageblocks needs the zone lock then. What the zone lock did besides
// for the latter, keeping the struct pages there, the lock of memory hotplug does.
// places 6.12: mm/vmstat.c pagetypeinfo_showfree, mm/vmstat.c pagetypeinfo_showblockcount
// places 7.3: mm/vmstat.c pagetypeinfo_showfree, mm/vmstat.c pagetypeinfo_showblockcount

@ print_counts @
expression m, pgdat;
@@
-walk_zones_in_node(m, pgdat, true, false, pagetypeinfo_showfree_print);
+if (IS_ENABLED(CONFIG_FREE_COUNTS))
+	walk_zones_in_node(m, pgdat, true, true, free_counts_print);
+else
+	walk_zones_in_node(m, pgdat, true, false,
+			   pagetypeinfo_showfree_print);

@ count_pageblocks @
expression m, pgdat;
@@
+if (IS_ENABLED(CONFIG_FREE_COUNTS))
+	get_online_mems();
 walk_zones_in_node(m, pgdat, true,
-		false,
+		IS_ENABLED(CONFIG_FREE_COUNTS),
		pagetypeinfo_showblockcount_print);
+if (IS_ENABLED(CONFIG_FREE_COUNTS))
+	put_online_mems();
