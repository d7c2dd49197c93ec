import random

import pytest

import freehold


def test_a_fallback_steals_without_hygiene_and_claims_with_room():
    memory = freehold.Memory(2048, pageblock_order=5, max_order=6, era="linux-7.3")
    assert memory.free_pages == 2048
    first = memory.alloc(0, "Unmovable")
    claimed = memory.fallbacks().to_dict()
    assert claimed["fallback_migratetype"] == ["Movable"] and claimed["claimed"] == [True]
    types = memory.pageblocks().to_dict()["migratetype"]
    # The whole free block, two pageblocks, changed its type.
    assert types.count("Unmovable") == 2 and types.count("Movable") == 62
    memory.check()
    memory.free(first)
    assert memory.free_pages == 2048
    assert "Unmovable" in memory.pagetypeinfo()


def test_a_mixed_pageblock_is_seen():
    memory = freehold.Memory(64, pageblock_order=5, max_order=5, era="linux-6.1")
    movable = [memory.alloc() for _ in range(62)]
    memory.alloc(0, "Unmovable")
    blocks = memory.pageblocks().to_dict()
    assert sum(blocks["mixed"]) == 1 and sum(blocks["unmovable"]) == 1
    assert "1 unmovable" in memory.picture()
    for pfn in movable:
        memory.free(pfn)
    memory.check()


def test_errors_change_nothing():
    memory = freehold.Memory(64, pageblock_order=5, max_order=5, start=0x1000)
    with pytest.raises(freehold.AllocError, match="the order exceeds the largest order set up"):
        memory.alloc(6)
    with pytest.raises(freehold.FreeError, match="frame 0x1000: the block is already free"):
        memory.free(0x1000)
    with pytest.raises(freehold.FreeError, match="outside all zones"):
        memory.free(7)
    with pytest.raises(freehold.BlockError, match="the frame is outside the zone"):
        memory.isolate(7)
    with pytest.raises(freehold.InputError, match="an order is 0 to 18, not 40"):
        memory.alloc(40)
    with pytest.raises(freehold.InputError, match="requests are Unmovable, Movable, Reclaimable"):
        memory.alloc(0, "Isolate")
    with pytest.raises(freehold.AllocError, match="there is no such CPU"):
        memory.alloc(cpu=9)
    with pytest.raises(freehold.InputError, match="1 to 16777216 pages"):
        freehold.Memory(0)
    with pytest.raises(freehold.InputError):
        freehold.Memory(64, pageblock_order=9, max_order=5)
    with pytest.raises(freehold.InputError, match="the eras are"):
        freehold.Memory(64, era="windows")
    with pytest.raises(OverflowError):
        memory.free(-1)
    assert memory.free_pages == 64
    memory.check()


def test_an_isolated_pageblock_is_not_used():
    memory = freehold.Memory(64, pageblock_order=5, max_order=5)
    memory.isolate(0)
    assert all(memory.alloc() >= 32 for _ in range(32))
    with pytest.raises(freehold.AllocError, match="no zone has a free block"):
        memory.alloc()
    with pytest.raises(freehold.BlockError, match="in that state already"):
        memory.isolate(0)
    memory.unisolate(0)
    assert memory.alloc() < 32
    assert sum(memory.counts().to_dict()["Isolate"]) == 0
    memory.check()


@pytest.mark.parametrize("era", freehold.eras())
def test_random_work_keeps_every_invariant(era):
    seed = random.randrange(1 << 32)
    print("seed", seed)
    dice = random.Random(seed)
    memory = freehold.Memory(4096, era=era, cpus=2, as_linux=True)
    blocks = []
    for _ in range(2000):
        if blocks and dice.random() < 0.45:
            memory.free(*blocks.pop(dice.randrange(len(blocks))), cpu=dice.randrange(2))
        else:
            order = dice.choice([0, 0, 0, 1, 3])
            kind = dice.choice(["Movable", "Unmovable", "Reclaimable"])
            try:
                blocks.append((memory.alloc(order, kind, cpu=dice.randrange(2)), order))
            except freehold.AllocError:
                pass
    memory.check()
    for block in blocks:
        memory.free(*block)
    memory.drain()
    memory.check()
    assert memory.free_pages == 4096
