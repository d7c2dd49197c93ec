// SPDX-License-Identifier: GPL-2.0-only
/*
 * The oracle's door into vmstat.c, at whose end this file is included: what
 * prints /proc/pagetypeinfo and /proc/buddyinfo is private to that file.
 */

const struct seq_operations *freehold_seq_operations(int which);

const struct seq_operations *freehold_seq_operations(int which)
{
	return which ? &fragmentation_op : &pagetypeinfo_op;
}
