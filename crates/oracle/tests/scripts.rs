//! Scripts of every family are valid, repeatable, and unchanged by writing and reading a file.

use freehold::GfpFlags;
use freehold_oracle::families::Family;
use freehold_oracle::script::MOST_BULK;
use freehold_oracle::{KernelVersion, Op, Place, Script, ScriptError, Step};

const SEEDS: std::ops::Range<u64> = 0..6;
const STEPS: [usize; 2] = [700, 25_000];

/// Flags that no script uses: they would sleep, allocate elsewhere, or change the page's contents.
const FORBIDDEN: GfpFlags = GfpFlags::NOFAIL
    .union(GfpFlags::DMA)
    .union(GfpFlags::DMA32)
    .union(GfpFlags::THISNODE)
    .union(GfpFlags::ZERO)
    .union(GfpFlags::ACCOUNT)
    .union(GfpFlags::WRITE)
    .union(GfpFlags::UNKNOWN);

fn each_script(mut check: impl FnMut(&str, KernelVersion, usize, &Script)) {
    for kernel in KernelVersion::ALL {
        for family in Family::of(kernel) {
            for seed in SEEDS {
                for steps in STEPS {
                    let script = family.script(seed, steps, kernel);
                    let name = format!("{} seed {seed} steps {steps} kernel {kernel}", family.name());
                    check(&name, kernel, steps, &script);
                }
            }
        }
    }
}

/// The contents of the slots, derived independently of the script's writer.
struct Slots(Vec<Option<u8>>);

impl Slots {
    fn fill(&mut self, first: usize, count: usize, order: u8) -> Result<(), String> {
        let end = first + count;
        let slots = self.0.get_mut(first..end).ok_or("slots out of bounds")?;
        if slots.iter().any(Option::is_some) {
            return Err("a full slot is filled".to_owned());
        }
        slots.fill(Some(order));
        Ok(())
    }

    fn play(&mut self, step: &Step) -> Result<(), String> {
        let slot = step.slot as usize;
        let in_use = *self.0.get(slot).ok_or("slot out of bounds")?;
        match step.op {
            Op::Alloc { order, .. } => self.fill(slot, 1, order.get()),
            Op::BulkAlloc { pages, .. } if pages > MOST_BULK => Err("too many pages".to_owned()),
            Op::BulkAlloc { pages, .. } => self.fill(slot, pages as usize, 0),
            Op::Free => {
                in_use.ok_or("an empty slot is freed")?;
                self.0[slot] = None;
                Ok(())
            }
            Op::Split => {
                let order = in_use.ok_or("an empty slot is split")?;
                self.fill(slot + 1, (1 << order) - 1, 0)?;
                self.0[slot] = Some(0);
                Ok(())
            }
            Op::Contig { pages, .. } => self.fill(slot + 1, pages as usize, 0),
            Op::Mark(_) | Op::Pin => in_use.map(|_| ()).ok_or_else(|| "an empty slot is marked".to_owned()),
            Op::Isolate { from: Place::AtSlot(_), .. } if in_use.is_none() => {
                Err("isolation at an empty slot".to_owned())
            }
            _ => Ok(()),
        }
    }
}

fn gfp_of(op: Op) -> GfpFlags {
    match op {
        Op::Alloc { gfp, .. } | Op::BulkAlloc { gfp, .. } => gfp,
        _ => GfpFlags::empty(),
    }
}

#[test]
fn every_script_is_valid() {
    each_script(|name, kernel, _, script| {
        let mut slots = Slots(vec![None; script.slots as usize]);
        assert!(u16::from(script.cpus) <= kernel.most_cpus(), "{name}");
        for (number, step) in script.steps.iter().enumerate() {
            let result = slots.play(step);
            assert_eq!(result, Ok(()), "{name}, step {number}: {step}");
            assert!(step.cpu < script.cpus, "{name}, step {number}: {step}");
            let gfp = gfp_of(step.op);
            assert!(!gfp.intersects(FORBIDDEN), "{name}, step {number}: {step}");
            let two_types = gfp.contains(GfpFlags::MOVABLE.union(GfpFlags::RECLAIMABLE));
            assert!(!two_types, "{name}, step {number}: {step}");
            let before_6_3 = kernel == KernelVersion::V6_1;
            assert!(before_6_3 || !gfp.contains(GfpFlags::ATOMIC), "{name}, step {number}: {step}");
        }
        let has = |is: fn(&Op) -> bool| script.steps.iter().any(|step| is(&step.op));
        // A compound block is not split.
        let compound = script.steps.iter().any(|step| gfp_of(step.op).contains(GfpFlags::COMP));
        assert!(!compound || !has(|op| *op == Op::Split), "{name}: compound blocks and splits");
        assert!(!compound || has(|op| matches!(op, Op::Tidy { .. })), "{name}: compound blocks");
        let both = has(|op| matches!(op, Op::Contig { .. })) && has(|op| matches!(op, Op::Mark(_)));
        assert!(!both, "{name}: marked pages could be migrated for a range");
    });
}

#[test]
fn every_script_has_about_the_requested_length() {
    each_script(|name, _, steps, script| {
        let length = script.steps.len();
        assert!(length <= steps + steps / 5 + 700, "{name}: {length}");
        assert!(length >= steps * 4 / 5, "{name}: {length}");
        let dumps = script.steps.iter().filter(|step| step.op == Op::Dump).count();
        let digests = script.steps.iter().filter(|step| step.op == Op::Digest).count();
        assert!(dumps <= 1 && digests >= 1, "{name}: {dumps} dumps, {digests} digests");
    });
}

#[test]
fn every_script_survives_a_file_round_trip() {
    each_script(|name, _, _, script| {
        let mut bytes = script.to_bytes();
        let length = bytes.len();
        bytes.extend_from_slice(b"what follows");
        let read = Script::from_bytes(&bytes);
        assert!(read == Ok((script.clone(), length)), "{name}");
    });
}

#[test]
fn seed_determines_the_script() {
    for family in Family::ALL {
        let script = |seed| family.script(seed, 3000, KernelVersion::V7_3);
        assert!(script(7) == script(7), "{}", family.name());
        assert!(script(7) != script(8), "{}", family.name());
        assert_eq!(Family::from_name(family.name()), Some(family));
    }
}

#[test]
fn families_contain_their_calls() {
    let count = |family: Family, is: fn(&Op) -> bool| {
        let steps = SEEDS.flat_map(|seed| family.script(seed, 25_000, KernelVersion::V7_3).steps);
        steps.filter(|step| is(&step.op)).count()
    };
    assert!(count(Family::Ranges, |op| matches!(op, Op::Contig { .. })) > 50);
    assert!(count(Family::Ranges, |op| matches!(op, Op::Isolate { .. })) > 50);
    assert!(count(Family::TypePressure, |op| matches!(op, Op::Mark(true))) > 500);
    assert!(count(Family::Refusals, |op| matches!(op, Op::Split)) > 20);
    assert!(count(Family::Settings, |op| matches!(op, Op::Set { .. })) > 100);
    assert!(count(Family::Settings, |op| matches!(op, Op::PageTypeInfo)) > 5);
    assert!(count(Family::PerCpu, |op| matches!(op, Op::Refresh)) > 20);
    assert!(count(Family::Boost, |op| matches!(op, Op::RelaxBoost { .. })) > 50);
    let passes = |seed| Family::Tidying.script(seed, 25_000, KernelVersion::V7_3Tidying).steps;
    let passes = SEEDS.flat_map(passes).filter(|step| matches!(step.op, Op::Tidy { .. })).count();
    assert!(passes > 100, "{passes}");
    assert!(count(Family::Fuzz, |op| matches!(op, Op::Alloc { .. })) > 30_000);
}

fn bytes() -> Vec<u8> {
    Family::Fuzz.script(1, 700, KernelVersion::V6_1).to_bytes()
}

#[test]
fn bad_bytes_return_their_error() {
    let good = bytes();
    let steps = (good.len() as u64 - 64) / 16;
    assert_eq!(Script::from_bytes(b""), Err(ScriptError::NotAScript));
    assert_eq!(Script::from_bytes(&good[..63]), Err(ScriptError::NotAScript));
    assert_eq!(Script::from_bytes(&good[1..]), Err(ScriptError::NotAScript));
    let short = &good[..good.len() - 1];
    assert_eq!(Script::from_bytes(short), Err(ScriptError::CutShort { have: steps - 1, expected: steps }));
    let with = |at: usize, byte: u8| {
        let mut bytes = good.clone();
        bytes[at] = byte;
        Script::from_bytes(&bytes)
    };
    assert_eq!(with(8, 9), Err(ScriptError::OtherVersion(9)));
    assert_eq!(with(64, 0), Err(ScriptError::UnknownStep { number: 0 }));
    assert_eq!(with(64 + 16 * 5, 18), Err(ScriptError::UnknownStep { number: 5 }));
}

#[test]
fn random_bytes_do_not_panic() {
    for seed in 0..300 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let mut bytes = bytes();
        for _ in 0..rng.usize(1..20) {
            let at = rng.usize(..bytes.len());
            bytes[at] = rng.u8(..);
        }
        bytes.truncate(rng.usize(..=bytes.len()));
        if let Ok((script, taken)) = Script::from_bytes(&bytes) {
            let again = Script::from_bytes(&script.to_bytes());
            assert!(again == Ok((script, taken)), "seed {seed}");
        }
    }
}
