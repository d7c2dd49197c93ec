//! The script for a small zone, as a short text.

use std::fmt;

use freehold::{Era, Migratetype, Order};

/// The most requests and frees of a script, including repetitions.
const MOST_STEPS: usize = 20_000;

/// The number of pageblocks of a zone.
pub(super) const PAGEBLOCKS: u32 = 16;

/// The orders that a pageblock can have: 64 to 512 pages.
const PAGEBLOCK_ORDERS: std::ops::RangeInclusive<u8> = 6..=9;

/// The script for a small zone: its settings and steps.
///
/// The text has parts separated by `~`: the era, the order of a pageblock, 1 if CPUs' lists keep pages or 0 if not, and
/// then the steps. A step is one of:
///
/// - a letter for a type and an order, optionally with `x` and a number of repetitions (`m0x64`): requests
/// - `f` and a frame number: a free of the block that begins there
/// - `d`: a drain of CPUs' lists
/// - `h`: a free of every second movable block
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Script {
    /// The generation of the allocator.
    pub(super) era: Era,
    /// The order of a pageblock.
    pub(super) pageblock_order: Order,
    /// True if CPUs' lists keep pages.
    pub(super) has_percpu_lists: bool,
    pub(super) steps: Vec<Step>,
}

/// One step of a script.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Step {
    /// A number of requests, which end at the first failure.
    Alloc { migratetype: Migratetype, order: Order, times: u32 },
    /// A free of the block that begins at a frame.
    Free { pfn: u64 },
    /// A free of every second movable block, in the order of addresses.
    FreeHalf,
    /// A drain of all CPUs' lists.
    Drain,
}

/// The reason why a script cannot be played.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ScriptError {
    /// The part that cannot be read.
    part: String,
    what: &'static str,
}

impl fmt::Display for ScriptError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The script comes from a shared address, which may have any text.
        let part: String = self.part.chars().take(40).collect();
        write!(f, "the script of the sandbox cannot be played: {part:?} is not {}", self.what)
    }
}

impl std::error::Error for ScriptError {}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// [`ScriptError`], which names the first part that cannot be read.
    pub(super) fn new(text: &str) -> Result<Self, ScriptError> {
        let mut parts = text.split('~');
        let mut next = |what, read: &dyn Fn(&str) -> Option<u8>| {
            let part = parts.next().unwrap_or_default();
            read(part).ok_or_else(|| ScriptError { part: part.to_owned(), what })
        };
        let eras = |part: &str| Era::ALL.iter().position(|era| era.name() == part).map(|era| era as u8);
        let era = Era::ALL[usize::from(next("an era", &eras)?)];
        let orders = |part: &str| part.parse().ok().filter(|order| PAGEBLOCK_ORDERS.contains(order));
        let pageblock_order = next("a pageblock order from 6 to 9", &orders)?;
        let flags = |part: &str| part.parse().ok().filter(|&flag| flag < 2);
        let has_percpu_lists = next("0 or 1", &flags)? == 1;
        let pageblock_order = Order::new(pageblock_order).unwrap_or(Order::HUGE_PAGE);
        let mut script = Self { era, pageblock_order, has_percpu_lists, steps: Vec::new() };
        let mut done = 0;
        for part in parts.filter(|part| !part.is_empty()) {
            let wrong = |what| ScriptError { part: part.to_owned(), what };
            let step = script.step(part).ok_or_else(|| wrong("a step"))?;
            done += if let Step::Alloc { times, .. } = step { times as usize } else { 1 };
            if done > MOST_STEPS {
                return Err(wrong("within the 20 000 steps of a script"));
            }
            script.steps.push(step);
        }
        Ok(script)
    }

    /// Returns the largest order of the zone: that of two pageblocks, as in Linux on most machines.
    pub(super) fn max_order(&self) -> Order {
        Order::new(self.pageblock_order.get() + 1).unwrap_or(Order::MAX_PAGE_ORDER)
    }

    /// Returns the number of pages of the zone.
    pub(super) fn pages(&self) -> u64 {
        u64::from(PAGEBLOCKS) << self.pageblock_order.get()
    }

    fn step(&self, part: &str) -> Option<Step> {
        let (letter, rest) = part.split_at_checked(1)?;
        let migratetype = match letter {
            "f" => return u64::from_str_radix(rest, 16).ok().map(|pfn| Step::Free { pfn }),
            "d" => return rest.is_empty().then_some(Step::Drain),
            "h" => return rest.is_empty().then_some(Step::FreeHalf),
            "u" => Migratetype::Unmovable,
            "m" => Migratetype::Movable,
            "r" => Migratetype::Reclaimable,
            _ => return None,
        };
        let (order, times) = rest.split_once('x').unwrap_or((rest, "1"));
        let order = Order::new(order.parse().ok()?).filter(|&order| order <= self.max_order())?;
        Some(Step::Alloc { migratetype, order, times: times.parse().ok()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn script_has_settings_and_steps() {
        let script = Script::new("linux-7.3~6~0~m0x64~u3~f1f~h~d~").expect("a script");
        assert_eq!(
            (script.era, script.pageblock_order.get(), script.has_percpu_lists),
            (Era::Linux7_3, 6, false)
        );
        let alloc = |migratetype, order, times| Step::Alloc {
            migratetype,
            order: Order::new(order).expect("an order"),
            times,
        };
        let steps = [
            alloc(Migratetype::Movable, 0, 64),
            alloc(Migratetype::Unmovable, 3, 1),
            Step::Free { pfn: 0x1f },
            Step::FreeHalf,
            Step::Drain,
        ];
        assert_eq!(script.steps, steps);
    }

    #[test]
    fn invalid_scripts_name_the_bad_part() {
        let settings = "linux-7.3~6~0";
        for (text, part) in [
            ("", "\"\" is not an era"),
            ("linux-9~6~0", "\"linux-9\" is not an era"),
            ("linux-7.3~3~0", "\"3\" is not a pageblock order"),
            ("linux-7.3~6~2", "\"2\" is not 0 or 1"),
            (&format!("{settings}~m8"), "\"m8\" is not a step"),
            (&format!("{settings}~é"), "\"é\" is not a step"),
            (&format!("{settings}~fxyz"), "\"fxyz\" is not a step"),
            (&format!("{settings}~m0x19999~m0x2"), "\"m0x2\" is not within"),
        ] {
            let error = Script::new(text).expect_err(text).to_string();
            assert!(error.contains(part), "{error}");
        }
    }
}
