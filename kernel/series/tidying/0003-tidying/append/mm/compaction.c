
#ifdef CONFIG_COMPACTION

/**
 * kcompactd_wait_tidying() - wait for work, and tidy pageblocks meanwhile
 * @pgdat: the node
 * @timeout: how long to wait, in jiffies
 *
 * Return: 0 if the time has passed without work; otherwise not 0.
 */
long kcompactd_wait_tidying(pg_data_t *pgdat, long timeout)
{
	const long step = HZ / 10;

	for (;;) {
		bool on = pageblock_tidying_is_on();
		long wait = on ? min(timeout, step) : timeout;
		unsigned long start = jiffies;

		wait_event_freezable_timeout(pgdat->kcompactd_wait,
					     kcompactd_work_requested(pgdat) ||
					     pageblock_tidying_is_on() != on,
					     wait);
		if (kcompactd_work_requested(pgdat))
			return 1;
		if (on)
			tidy_pageblocks(pgdat);
		if (timeout == MAX_SCHEDULE_TIMEOUT)
			continue;
		timeout -= (long)(jiffies - start);
		if (timeout <= 0)
			return 0;
	}
}

#endif /* CONFIG_COMPACTION */

#ifdef CONFIG_PAGEBLOCK_TIDYING

/**
 * isolate_to_tidy() - isolate movable pages without waiting for any
 * @cc: where they go; see isolate_migratepages_block()
 * @start_pfn: where to start
 * @end_pfn: where to end, within the same pageblock
 *
 * Return: 0, or an error if nothing more should be isolated now.
 */
int isolate_to_tidy(struct compact_control *cc, unsigned long start_pfn,
		    unsigned long end_pfn)
{
	isolate_mode_t mode = ISOLATE_ASYNC_MIGRATE;

	if (sysctl_compact_unevictable_allowed)
		mode |= ISOLATE_UNEVICTABLE;
	return isolate_migratepages_block(cc, start_pfn, end_pfn, mode);
}

#endif /* CONFIG_PAGEBLOCK_TIDYING */
