//! Shortens failing scripts.

use super::steps::{Op, Place, Script, Step};

/// Returns the shortest script found for which `still_fails` returns true, starting from `script`.
///
/// Removes steps in ever smaller pieces, and calls `still_fails` at most `budget` times. Steps that depend on removed
/// steps are removed as well, so that every tried script is valid. A caller that knows the first difference should
/// remove the later steps before the call.
pub fn shrink(script: &Script, mut still_fails: impl FnMut(&Script) -> bool, budget: usize) -> Script {
    let mut best = script.clone();
    let mut tries = 0;
    let mut piece = best.steps.len().div_ceil(2);
    while piece > 0 {
        let mut removed = false;
        // Pieces are removed from the end, so that the free of a block is removed before its allocation.
        let mut end = best.steps.len();
        while end > 0 {
            if tries == budget {
                return best;
            }
            let start = end.saturating_sub(piece);
            let kept = best.steps[..start].iter().chain(&best.steps[end..]);
            let candidate = Script { steps: repaired(kept), ..without_steps(&best) };
            tries += 1;
            if still_fails(&candidate) {
                // Only later steps depend on the piece, so the position stays.
                best = candidate;
                removed = true;
            }
            end = start.min(best.steps.len());
        }
        if !removed || piece > 1 {
            piece /= 2;
        }
        piece = piece.min(best.steps.len());
    }
    best.slots = slots_used(&best.steps);
    best
}

fn without_steps(script: &Script) -> Script {
    let Script { cpus, cma_blocks, seed, slots, ref memory, .. } = *script;
    Script { cpus, cma_blocks, seed, slots, memory: memory.clone(), steps: Vec::new() }
}

/// Returns the steps that are still valid: their slots have the block or the room that they need.
fn repaired<'a>(steps: impl Iterator<Item = &'a Step>) -> Vec<Step> {
    let mut slots = Occupancy::default();
    steps.filter(|step| slots.play(step)).copied().collect()
}

/// The contents of each slot, if every request succeeds.
#[derive(Default)]
struct Occupancy {
    /// For each slot the order of its block plus one.
    orders: Vec<u8>,
}

impl Occupancy {
    /// Applies a step. Returns false and changes nothing if the step is not valid.
    fn play(&mut self, step: &Step) -> bool {
        let slot = step.slot as usize;
        match step.op {
            Op::Alloc { order, .. } => self.fill(slot, 1, order.get()),
            Op::BulkAlloc { pages, .. } => self.fill(slot, pages as usize, 0),
            Op::Free => self.take(slot).is_some(),
            Op::Split => {
                let Some(order) = self.order(slot) else { return false };
                let fits = self.fill(slot + 1, (1 << order) - 1, 0);
                if fits {
                    self.orders[slot] = 1;
                }
                fits
            }
            Op::Contig { pages, from, .. } => {
                self.has_place(slot, from) && self.fill(slot + 1, pages as usize, 0)
            }
            Op::Isolate { from, .. } | Op::UndoIsolate { from, .. } => self.has_place(slot, from),
            Op::Mark(_) | Op::Pin => self.order(slot).is_some(),
            _ => true,
        }
    }

    fn has_place(&self, slot: usize, from: Place) -> bool {
        matches!(from, Place::InZone(_)) || self.order(slot).is_some()
    }

    fn order(&self, slot: usize) -> Option<u8> {
        self.orders.get(slot)?.checked_sub(1)
    }

    fn take(&mut self, slot: usize) -> Option<u8> {
        let order = self.order(slot)?;
        self.orders[slot] = 0;
        Some(order)
    }

    fn fill(&mut self, first: usize, count: usize, order: u8) -> bool {
        let end = first + count;
        if self.orders.len() < end {
            self.orders.resize(end, 0);
        }
        let slots = &mut self.orders[first..end];
        let fits = slots.iter().all(|&order| order == 0);
        if fits {
            slots.fill(order + 1);
        }
        fits
    }
}

/// Returns one more than the last slot that a step uses.
fn slots_used(steps: &[Step]) -> u64 {
    let mut slots = Occupancy::default();
    let last = steps.iter().map(|step| u64::from(step.slot) + 1).max().unwrap_or_default();
    for step in steps {
        slots.play(step);
    }
    last.max(slots.orders.len() as u64)
}

#[cfg(test)]
mod tests {
    use freehold::{GfpFlags, Order};

    use super::*;

    fn step(slot: u32, op: Op) -> Step {
        Step { cpu: 0, slot, op }
    }

    fn alloc(slot: u32, order: u8) -> Step {
        step(slot, Op::Alloc { order: Order::new(order).unwrap(), gfp: GfpFlags::KERNEL })
    }

    fn script(steps: Vec<Step>) -> Script {
        Script { cpus: 1, slots: slots_used(&steps), steps, ..Script::default() }
    }

    #[test]
    fn keeps_the_steps_that_a_failure_needs() {
        let mut steps: Vec<Step> = (0..500).map(|slot| alloc(slot, 0)).collect();
        steps.extend((0..500).map(|slot| step(slot, Op::Free)));
        steps.insert(700, step(0, Op::Drain));
        let fails = |script: &Script| {
            let freed = script.steps.iter().position(|&it| it == step(300, Op::Free));
            let drained = script.steps.iter().position(|it| it.op == Op::Drain);
            matches!((freed, drained), (Some(freed), Some(drained)) if drained < freed)
        };
        let short = shrink(&script(steps), fails, 10_000);
        assert_eq!(short.steps, [alloc(300, 0), step(0, Op::Drain), step(300, Op::Free)]);
        assert_eq!(short.slots, 301);
    }

    #[test]
    fn respects_the_budget() {
        let mut tries = 0;
        let long = script((0..100).map(|slot| alloc(slot, 0)).collect());
        let short = shrink(
            &long,
            |_| {
                tries += 1;
                false
            },
            7,
        );
        assert_eq!((tries, short), (7, long));
    }

    #[test]
    fn drops_steps_whose_block_is_gone() {
        let steps = [
            step(0, Op::Split),
            step(1, Op::Free),
            step(2, Op::Mark(true)),
            step(3, Op::Isolate { blocks: 1, from: Place::AtSlot(0) }),
            step(4, Op::Contig { pages: 2, from: Place::AtSlot(1), cma: false }),
            step(5, Op::Free),
            alloc(6, 2),
            alloc(6, 1),
            step(6, Op::Split),
            step(9, Op::Free),
            alloc(9, 0),
            step(0, Op::Digest),
        ];
        let valid = [alloc(6, 2), step(6, Op::Split), step(9, Op::Free), alloc(9, 0), step(0, Op::Digest)];
        assert_eq!(repaired(steps.iter()), valid);
    }

    #[test]
    fn every_tried_script_is_valid() {
        use crate::KernelVersion;
        use crate::families::Family;
        let script = Family::Fuzz.script(3, 2000, KernelVersion::V7_3);
        let mut rng = fastrand::Rng::with_seed(5);
        shrink(
            &script,
            |tried| {
                let mut slots = Occupancy::default();
                assert!(tried.steps.iter().all(|step| slots.play(step)));
                rng.bool()
            },
            200,
        );
    }
}
