// A page comes back from a per-CPU list to the list of the type that its
// pageblock had when it was freed, or that was asked for.
// places 6.12: mm/page_alloc.c free_pcppages_bulk

@ per_cpu @
identifier zone, count, pcp, pindex, page, pfn, mt;
@@
 free_pcppages_bulk(struct zone *zone, int count, struct per_cpu_pages *pcp, int pindex)
 {
 <+...
 mt = get_pfnblock_migratetype(page, pfn);
+if (mt < MIGRATE_PCPTYPES && pindex < NR_LOWORDER_PCP_LISTS)
+	mt = pindex % MIGRATE_PCPTYPES;
 ...+>
 }
