//! The settings that can be varied between replays, as data: one line for each setting.

use std::ops::RangeInclusive;

use freehold::{Era, Order, Switch, Sysctls};
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::replay::{Lab, Variant, nearest_era};
use crate::start::{Machine, SetSysctls};

/// A setting that can be varied.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// The name: Linux's own if the setting is a sysctl.
    pub name: &'static str,
    /// The unit of the values, or empty.
    pub unit: &'static str,
    /// What the setting does, in one line.
    pub doc: &'static str,
    kind: Kind,
}

/// The values that a knob can have, and what they change.
#[derive(Clone, Copy, Debug)]
enum Kind {
    Era,
    Switch(Switch),
    Number { least: u64, most: u64, zero: bool, set: fn(&mut Settings, u64) },
}

/// A value of a knob.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Value {
    /// A number in the knob's unit.
    Number(u64),
    /// The name of an era, `on` or `off`.
    Word(String),
}

impl std::fmt::Display for Value {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Word(word) => word.fmt(f),
        }
    }
}

/// The machine and the variant of a replay after knobs were turned.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The recorded machine with other settings.
    pub machine: Machine,
    /// The era and its switches.
    pub variant: Variant,
    sysctls: SetSysctls,
}

const fn number(
    name: &'static str,
    unit: &'static str,
    doc: &'static str,
    range: RangeInclusive<u64>,
    set: fn(&mut Settings, u64),
) -> Knob {
    Knob {
        name,
        unit,
        doc,
        kind: Kind::Number { least: *range.start(), most: *range.end(), zero: false, set },
    }
}

/// Returns a knob that can also be 0, which means that Linux decides.
const fn or_zero(mut knob: Knob) -> Knob {
    if let Kind::Number { zero, .. } = &mut knob.kind {
        *zero = true;
    }
    knob
}

/// The knob that decides only where the replay's own kcompactd does.
const PROACTIVENESS: &str = "compaction_proactiveness";

/// The largest value of a sysctl that is an `int`.
const INT_MAX: u64 = i32::MAX as u64;

/// Every knob that is a number.
#[rustfmt::skip]
static NUMBERS: [Knob; 8] = [
    number("watermark_boost_factor", "1/10000", "how far a fallback boosts the watermarks; 0 for not at all", 0..=INT_MAX,
        |settings, value| settings.machine.watermark_boost_factor = Some(value as u32)),
    number("pageblock_order", "", "the order of a pageblock", 1..=Order::MAX.get() as u64,
        |settings, value| settings.machine.pageblock_order = Order::new(value as u8).unwrap_or(Order::MAX)),
    number("min_free_kbytes", "KiB", "what the min watermarks of all zones keep free together", 0..=INT_MAX,
        |settings, value| settings.sysctls.min_free_kbytes = Some(value)),
    number("watermark_scale_factor", "1/10000", "the least distance between watermarks, as a part of the zone", 1..=3000,
        |settings, value| settings.sysctls.watermark_scale_factor = Some(value)),
    or_zero(number("percpu_pagelist_high_fraction", "", "per-CPU lists hold this part of a zone; 0 for automatic tuning", Sysctls::LEAST_HIGH_FRACTION..=INT_MAX,
        |settings, value| settings.sysctls.percpu_pagelist_high_fraction = Some(value))),
    number("defrag_mode", "", "no mixing of pageblocks before reclaim and compaction failed", 0..=1,
        |settings, value| settings.machine.tunables.defrag_mode = value != 0),
    number(PROACTIVENESS, "%", "how early kcompactd compacts unasked; 0 for never", 0..=100,
        |settings, value| settings.machine.tunables.compaction_proactiveness = value as u8),
    number("extfrag_threshold", "1/1000", "the least extfrag_index at which a costly request compacts", 0..=1000,
        |settings, value| settings.machine.tunables.extfrag_threshold = value as u16),
];

impl Knob {
    /// Returns every knob: the era, the systems, the numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        let era = Self { name: "era", unit: "", doc: "which generation of the allocator", kind: Kind::Era };
        let switches = Switch::all().map(|switch| Self {
            name: switch.name(),
            unit: "",
            doc: "a system or a rule of placement, turned on or off whatever the era has",
            kind: Kind::Switch(switch),
        });
        [era].into_iter().chain(switches).chain(NUMBERS)
    }

    /// Returns the knob with this name; dashes and underscores are the same.
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = |name: &str| name.replace('-', "_");
        Self::all().find(|knob| plain(knob.name) == plain(name))
    }

    /// Returns the values that the knob can have, in words.
    pub fn values(&self) -> String {
        match self.kind {
            Kind::Era => Era::ALL.map(Era::name).join(", "),
            Kind::Switch(_) => "on, off".to_owned(),
            Kind::Number { least, most, zero, .. } => {
                format!("{}{least} to {most}", if zero { "0, or " } else { "" })
            }
        }
    }

    /// Returns true if some traces cannot answer for other values: [`Lab::cannot_vary`] says which.
    pub fn depends_on_trace(&self) -> bool {
        self.name == PROACTIVENESS
    }

    /// Reads a value; `None` if it is none of [`Self::values`].
    pub fn parse(&self, text: &str) -> Option<Value> {
        match self.kind {
            Kind::Era => Era::from_name(text).map(|era| Value::Word(era.name().to_owned())),
            Kind::Switch(_) => ["on", "off"].contains(&text).then(|| Value::Word(text.to_owned())),
            Kind::Number { least, most, zero, .. } => {
                let number: u64 = text.parse().ok()?;
                let fits = (least..=most).contains(&number) || (zero && number == 0);
                fits.then_some(Value::Number(number))
            }
        }
    }

    fn apply(&self, settings: &mut Settings, value: &Value) {
        match (self.kind, value) {
            (Kind::Era, Value::Word(name)) => {
                settings.variant.era = Era::from_name(name).unwrap_or(settings.variant.era);
            }
            (Kind::Switch(switch), Value::Word(word)) if word == "on" => settings.variant.with.push(switch),
            (Kind::Switch(switch), Value::Word(_)) => settings.variant.without.push(switch),
            (Kind::Number { set, .. }, Value::Number(number)) => set(settings, *number),
            _ => {}
        }
    }
}

/// Why a name or a value cannot be used, and which can.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnknownSetting(pub(super) String);

/// Returns the knob with this name; dashes and underscores are the same.
///
/// # Errors
/// There is none; all names are given.
pub fn knob(name: &str) -> Result<Knob, UnknownSetting> {
    Knob::from_name(name).ok_or_else(|| {
        UnknownSetting(format!("{name:?} cannot be varied; the settings are {}", known_knobs()))
    })
}

/// Returns the names of all knobs, for a message.
pub fn known_knobs() -> String {
    Knob::all().map(|knob| knob.name).collect::<Vec<_>>().join(", ")
}

/// Returns the era with this name.
///
/// # Errors
/// There is none; all names are given.
pub fn era(name: &str) -> Result<Era, UnknownSetting> {
    let known = || Era::ALL.map(Era::name).join(", ");
    Era::from_name(name).ok_or_else(|| UnknownSetting(format!("the eras are {}", known())))
}

/// Returns the system or rule with this name.
///
/// # Errors
/// There is none; all names are given.
pub fn switch(name: &str) -> Result<Switch, UnknownSetting> {
    let known = || Switch::all().map(Switch::name).collect::<Vec<_>>().join(", ");
    Switch::from_name(name).ok_or_else(|| UnknownSetting(format!("the systems and rules are {}", known())))
}

impl Knob {
    /// Reads a value.
    ///
    /// # Errors
    /// It is none of [`Self::values`], which are given.
    pub fn value(&self, text: &str) -> Result<Value, UnknownSetting> {
        let unknown = || format!("{text:?} is no value of {}, which has {}", self.name, self.values());
        self.parse(text).ok_or_else(|| UnknownSetting(unknown()))
    }

    /// Reads several values.
    ///
    /// # Errors
    /// One is none of [`Self::values`], or is there twice.
    pub fn several<'t>(
        &self,
        texts: impl IntoIterator<Item = &'t str>,
    ) -> Result<Vec<Value>, UnknownSetting> {
        let mut values = Vec::new();
        for text in texts {
            let value = self.value(text)?;
            if values.contains(&value) {
                return Err(UnknownSetting(format!("{} has the value {value} twice", self.name)));
            }
            values.push(value);
        }
        Ok(values)
    }
}

impl<'t> Lab<'t> {
    /// Returns the lab of the recorded machine with some knobs turned, and the variant of the allocator.
    ///
    /// # Errors
    /// Pageblocks that are larger than the machine's largest block.
    pub fn turned(&self, settings: &[(Knob, Value)]) -> Result<(Lab<'t>, Variant), LabError> {
        let Settings { machine, variant, .. } = Settings::new(self, settings);
        let lab = self.on(machine);
        let order = lab.machine.pageblock_order;
        if order > lab.machine.max_order {
            let largest = lab.machine.max_order;
            let what = format!("pageblock order {order} on a machine whose largest order is {largest}");
            return Err(LabError::OutOfRange { what });
        }
        Ok((lab, variant))
    }
}

impl Lab<'_> {
    /// Returns why the trace cannot answer for other values of a knob, and what could; `None` if it can.
    pub fn cannot_vary(&self, knob: &Knob) -> Option<String> {
        let is_bound = knob.depends_on_trace() && self.tells_of_kcompactd();
        is_bound.then(|| {
            format!(
                "{PROACTIVENESS} cannot be varied: the trace tells how often the machine's kcompactd compacted, and the \
                 replay's compacts as often, whatever the setting. Set vm.{PROACTIVENESS} on the machine and record again"
            )
        })
    }
}

impl Settings {
    /// Returns the recorded machine with some knobs turned. Without a knob for the era, the era is the one
    /// nearest to the recorded kernel; the last one of Linux if the kernel is unknown.
    pub fn new(lab: &Lab<'_>, turned: &[(Knob, Value)]) -> Self {
        let era = nearest_era(&lab.trace.origin.kernel_release).unwrap_or(Era::Linux7_3);
        let mut settings =
            Self { machine: lab.machine.clone(), variant: era.into(), sysctls: SetSysctls::default() };
        for (knob, value) in turned {
            knob.apply(&mut settings, value);
        }
        let page_bytes = match lab.trace.origin.page_bytes {
            0 => 4096,
            bytes => bytes,
        };
        settings.sysctls.apply(&mut settings.machine, lab.trace.start, page_bytes);
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_that_linux_takes() {
        let parse = |knob: &str, text: &str| Knob::from_name(knob).expect(knob).parse(text);
        assert_eq!(parse("era", "freehold"), Some(Value::Word("freehold".into())));
        assert_eq!((parse("era", "linux-2.6"), parse("counts", "on,off")), (None, None));
        assert_eq!(parse("remembered_mode", "off"), Some(Value::Word("off".into())));
        assert_eq!(parse("pageblock_order", "7"), Some(Value::Number(7)));
        assert_eq!((parse("pageblock_order", "0"), parse("pageblock_order", "19")), (None, None));
        assert_eq!((parse("watermark_scale_factor", "3001"), parse("min_free_kbytes", "-1")), (None, None));
        let fraction = |text| parse("percpu_pagelist_high_fraction", text);
        assert_eq!(
            (fraction("0"), fraction("7"), fraction("8")),
            (Some(Value::Number(0)), None, Some(Value::Number(8)))
        );
        assert!(Knob::from_name("swappiness").is_none());
        assert!(Knob::all().all(|knob| !knob.doc.is_empty() && !knob.values().is_empty()));
    }
}
