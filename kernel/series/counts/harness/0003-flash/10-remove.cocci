// The second bank of the flash memory is taken out of memory before nodes are held against it.
// places 6.12, 6.18, 7.2: drivers/base/arch_numa.c numa_register_nodes
// places 7.3: mm/arch_numa.c numa_register_nodes

@@
@@
 numa_register_nodes(void)
 {
 ...
+memblock_remove(SZ_64M, SZ_64M);
 if (!memblock_validate_numa_coverage(0))
	return -EINVAL;
 ...
 }
