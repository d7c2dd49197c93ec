//! Scripts in which requests of one migratetype need the pageblocks of another.

use super::building::{
    Builder, Kind, LARGEST_ORDER, Leaving, PAGEBLOCK_PAGES, exhaust, fill, fill_by_split, free_where,
    mark_some, thin_out,
};

/// Fills memory with one type, frees some of it, and makes requests of other types until they claim its pageblocks.
pub(super) fn type_pressure(b: &mut Builder) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let percent = b.pick(&[60, 90, 100, 106]);
    let mut pool = fill(b, gfp, percent);
    if kind == Kind::Movable {
        let share = b.pick(&[0, 20, 50, 90]);
        mark_some(b, &pool, share);
    }
    if b.rng.bool() {
        exhaust(b, gfp);
    }
    thin_out(b, &mut pool);
    b.in_use.append(&mut pool);
    let mut others = Kind::ALL.to_vec();
    b.rng.shuffle(&mut others);
    for other in others {
        ask(b, other);
        if b.with_probability(30) {
            let leaving = b.leaving();
            let count = b.in_use.len() / 8;
            b.free_in_use(b.times(count).len(), leaving);
        }
    }
    let aim = b.pick(&[0, 25, 60, 85]);
    b.relieve(aim);
}

/// Makes pageblocks about half free, so that a few pages decide whether a claim is refused.
pub(super) fn refusals(b: &mut Builder) {
    let kind = b.kind();
    let gfp = b.request(kind);
    let percent = b.pick(&[30, 80, 104]);
    let free_of_block = b.rng.usize(60..480);
    let in_one_piece = b.rng.bool();
    let mut pool = fill_by_split(b, gfp, percent, |b| b.pick(&[9, 9, 10]));
    if kind == Kind::Movable {
        let share = b.pick(&[0, 10, 50, 100]);
        mark_some(b, &pool, share);
    }
    let block = PAGEBLOCK_PAGES as usize;
    let leaving = b.pick(&[Leaving::Oldest, Leaving::Random]);
    if in_one_piece {
        free_where(b, &mut pool, leaving, |at| at % block < free_of_block);
    } else {
        // Runs of up to 64 free pages, and some longer ones.
        free_where(b, &mut pool, leaving, |at| at % 64 < free_of_block / 8);
    }
    b.in_use.append(&mut pool);
    let other = b.kind();
    ask(b, other);
    ask(b, kind);
    let aim = b.pick(&[0, 30, 60]);
    b.relieve(aim);
}

/// Makes many requests of a type: small ones, then a few of every order, ascending or descending.
fn ask(b: &mut Builder, kind: Kind) {
    let most = b.rng.u8(..4);
    let count = b.rng.usize(20..800);
    for _ in b.times(count) {
        let order = b.rng.u8(..=most);
        let gfp = b.request(kind);
        b.hold(order, gfp);
    }
    let upwards = b.rng.bool();
    for at in 0..=LARGEST_ORDER {
        let order = if upwards { at } else { LARGEST_ORDER - at };
        let count = b.rng.usize(..6);
        for _ in b.times(count) {
            let gfp = b.request(kind);
            b.hold(order, gfp);
        }
    }
}
