//! The differences that matter, as plain sentences.

use freehold::Switch;
use freehold_measure::{Cell, grouped};

use super::distance::EndDistance;
use super::switched_off::{Without, turned_off};
use crate::recorded::Gaps;
use crate::replay::{Followed, Measures};

/// The share of a number below which a difference gets no sentence.
const WORTH_TELLING: f64 = 0.05;

/// A number that is compared, with its name as a plural noun.
type Subject = (&'static str, fn(&Measures) -> u64);

/// Returns the number that a system or rule of placement is meant to change.
fn purpose(switch: Switch) -> Subject {
    match switch {
        Switch::Hygiene => ("free blocks on another type's list", |m| m.locked.hygiene_violations),
        Switch::RememberedMode => ("fallback searches", |m| m.locked.fallback_searches),
        Switch::BatchedDraining => ("pages in the largest drain", |m| m.locked.largest_drain),
        Switch::Counts => ("list nodes visited by a reader of pagetypeinfo", |m| m.nodes.max),
        Switch::ClaimsUsedFirst => ("steals", |m| m.locked.steals),
        Switch::RetypesPageblocks => ("mixed pageblocks at the end", |m| m.mixed.end),
        Switch::UnmixesPageblocks => ("mixed pageblocks at the end", |m| m.mixed.end),
        Switch::EmptiesPageblocks => ("free pageblocks at the end", |m| m.free_pageblocks_at_end),
    }
}

/// The numbers that a system or rule may change besides.
const SIDE_EFFECTS: [Subject; 6] = [
    ("failed requests", |m| m.followed.failures.iter().sum()),
    ("requests answered from another type's block", |m| m.type_mismatches),
    ("mixed pageblocks at the end", |m| m.mixed.end),
    ("pages touched in the longest zone lock hold", |m| m.locked.longest_hold_touched),
    ("zone lock holds", |m| m.locked.lock_holds),
    ("fallback searches", |m| m.locked.fallback_searches),
];

/// What is taken out together with hygiene.
const WITH_HYGIENE: &str = "hygiene: without it the era's rules of placement cannot work either, so these are the \
     differences that all of them make together";

/// The numbers that are told of Linux from era to era.
const OF_THE_CHAIN: [Subject; 10] = [
    ("failed requests", |m| m.followed.failures.iter().sum()),
    ("free pageblocks at the end", |m| m.free_pageblocks_at_end),
    ("mixed pageblocks at the end", |m| m.mixed.end),
    ("claims", |m| m.locked.claims),
    ("steals", |m| m.locked.steals),
    ("pages moved", |m| m.events.pgmigrate_success),
    ("pages on the lists at the end", |m| m.percpu_pages_at_end),
    ("zone lock holds", |m| m.locked.lock_holds),
    ("pages touched in the longest zone lock hold", |m| m.locked.longest_hold_touched),
    ("list nodes visited by a reader of pagetypeinfo", |m| m.nodes.max),
];

/// Returns one sentence for each number that changes from one era of Linux to the next, with its value in each.
fn chain(eras: &[Measures]) -> impl Iterator<Item = String> + '_ {
    OF_THE_CHAIN.into_iter().filter_map(move |(noun, of)| {
        let changes = eras.windows(2).any(|pair| is_worth_telling(of(&pair[0]), of(&pair[1])));
        let values = eras.iter().map(|measures| format!("{} {}", measures.variant, grouped(of(measures))));
        changes.then(|| format!("from era to era, {noun}: {}", values.collect::<Vec<_>>().join(" → ")))
    })
}

/// Returns one sentence for each difference that matters: what changes from era to era of Linux, what each system
/// and rule does and costs, how the newest era differs from the oldest, and how far a replay ends from the machine.
pub(super) fn sentences(
    eras: &[Measures],
    without: &[Without],
    distance: Option<&EndDistance>,
) -> Vec<String> {
    let mut sentences = Vec::new();
    let Some((newest, linux)) = eras.split_last() else { return sentences };
    let Some(oldest) = linux.first() else { return sentences };
    sentences.extend(chain(linux));
    for (switch, less) in turned_off().zip(without) {
        let name = switch.name().replace('-', " ");
        let (purpose, of) = purpose(switch);
        if switch == Switch::Hygiene {
            sentences.push(WITH_HYGIENE.to_owned());
        }
        sentences.push(sentence(&name, purpose, of(&less.measures), of(newest)));
        for (noun, of) in SIDE_EFFECTS.into_iter().filter(|(noun, _)| *noun != purpose) {
            let (before, after) = (of(&less.measures), of(newest));
            if is_worth_telling(before, after) {
                sentences.push(sentence(&name, noun, before, after));
            }
        }
    }
    for (noun, of) in &SIDE_EFFECTS[..4] {
        let (before, after) = (of(oldest), of(newest));
        if is_worth_telling(before, after) {
            let name = format!("{} against {}", newest.variant, oldest.variant);
            sentences.push(sentence(&name, noun, before, after));
        }
    }
    if let Some(distance) = distance {
        sentences.push(format!(
            "{} ends {} free blocks ({} pages, {} % of the free pages) away from the machine's own pagetypeinfo",
            distance.variant,
            grouped(distance.blocks()),
            grouped(distance.pages()),
            Cell::Real(distance.percent()).text(),
        ));
    }
    sentences
}

fn is_worth_telling(before: u64, after: u64) -> bool {
    let difference = before.abs_diff(after);
    difference > 0 && difference as f64 >= WORTH_TELLING * before.max(after) as f64
}

/// Returns a sentence on a number that changed from `before` to `after`.
fn sentence(name: &str, noun: &str, before: u64, after: u64) -> String {
    let numbers = format!("({} → {})", grouped(before), grouped(after));
    let ratio = |more: u64, less: u64| {
        let ratio = more as f64 / less as f64;
        if ratio >= 10.0 {
            format!("{}x", grouped(ratio.round() as u64))
        } else if ratio >= 1.1 {
            format!("{ratio:.1}x")
        } else {
            format!("{:.1} %", (ratio - 1.0) * 100.0)
        }
    };
    match (before, after) {
        (before, after) if before == after => {
            format!("{name}: no difference in {noun} on this trace ({})", grouped(before))
        }
        (_, 0) => format!("{name}: no {noun} any more {numbers}"),
        (0, _) => format!("{name}: {noun} where there were none {numbers}"),
        (before, after) if after < before => {
            format!("{name}: {} fewer {noun} {numbers}", ratio(before, after))
        }
        (before, after) => format!("{name}: {} more {noun} {numbers}", ratio(after, before)),
    }
}

impl Gaps {
    /// Returns one sentence for each CPU that lost events, and one on what a replay noticed of the loss.
    pub fn sentences(&self, followed: &Followed) -> Vec<String> {
        let seconds = |ns: u64| ns.saturating_sub(self.first_ns) as f64 / 1e9;
        let mut sentences: Vec<_> = self
            .cpus
            .iter()
            .map(|cpu| {
                let about = if cpu.is_exact { "" } else { "at least " };
                let places = if cpu.places == 1 { "place" } else { "places" };
                format!(
                    "CPU {} lost {about}{} events in {} {places} between {:.3} s and {:.3} s: about {} pages, and at \
                     most {}, are not known to be free or in use at the end",
                    cpu.cpu,
                    grouped(cpu.events),
                    grouped(cpu.places),
                    seconds(cpu.begin_ns),
                    seconds(cpu.end_ns),
                    grouped(cpu.likely_pages),
                    grouped(cpu.uncertain_pages),
                )
            })
            .collect();
        if !sentences.is_empty() {
            sentences.push(format!(
                "since the first gap {} frees of blocks nobody allocated and {} double allocations: lost events explain \
                 these, and the replay went on as if the missing half had happened just before",
                grouped(followed.unknown_frees_since_loss),
                grouped(followed.double_allocs_since_loss),
            ));
        }
        sentences
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_say_what_the_numbers_say() {
        let say = |before, after| sentence("it", "steps", before, after).replace('\u{202f}', " ");
        assert_eq!(say(12_345, 86), "it: 144x fewer steps (12 345 → 86)");
        assert_eq!(say(10, 0), "it: no steps any more (10 → 0)");
        assert_eq!(say(0, 7), "it: steps where there were none (0 → 7)");
        assert_eq!(say(100, 150), "it: 1.5x more steps (100 → 150)");
        assert_eq!(say(105, 100), "it: 5.0 % fewer steps (105 → 100)");
        assert_eq!(say(5, 5), "it: no difference in steps on this trace (5)");
    }

    #[test]
    fn a_change_between_eras_of_linux_is_told_first_with_every_value() {
        let era = |name: &str, steals: u64, mixed: u64| {
            let mut measures = Measures { variant: name.to_owned(), ..Measures::default() };
            (measures.locked.steals, measures.mixed.end) = (steals, mixed);
            measures
        };
        let eras = [era("a", 17, 500), era("b", 17, 501), era("c", 24, 502), era("ours", 0, 502)];
        let told = sentences(&eras, &[], None);
        assert_eq!(told[0], "from era to era, steals: a 17 → b 17 → c 24");
        assert!(!told.iter().any(|sentence| sentence.contains("from era to era, mixed")), "{told:?}");
    }

    #[test]
    fn small_differences_are_not_worth_telling() {
        assert!(!is_worth_telling(1000, 1001) && !is_worth_telling(0, 0));
        assert!(is_worth_telling(0, 1) && is_worth_telling(100, 90));
    }
}
