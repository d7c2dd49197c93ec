# Seed 003: the boot up to here, then processes that end with much memory on one CPU, while the other takes and gives pages.
counts boot
timed exits free-much 8 256
counts exits
