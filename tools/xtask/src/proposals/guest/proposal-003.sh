# Proposal 003: the boot up to here, then processes with much memory end on one CPU, while the other CPU allocates and
# frees pages.
counts boot
timed exits free-much 8 256
counts exits
