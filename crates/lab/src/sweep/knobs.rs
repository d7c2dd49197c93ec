//! The settings that can be varied between replays: a table with one line for each.

use std::ops::RangeInclusive;

use freehold::{Era, Order, Switch, Sysctls};
use serde::{Deserialize, Serialize};

use crate::error::LabError;
use crate::replay::{Lab, Variant, nearest_era};
use crate::start::{RecordedMachine, SetSysctls};

/// A setting that can be varied.
#[derive(Clone, Copy, Debug)]
pub struct Knob {
    /// The name: that of Linux if the setting is a sysctl.
    pub name: &'static str,
    /// The unit of the values, or empty.
    pub unit: &'static str,
    /// The effect of the setting, in one line.
    pub doc: &'static str,
    kind: Kind,
}

/// The values of a knob, and their effect.
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

/// The machine and the variant of a replay, with changed knobs.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The recorded machine with other settings.
    pub machine: RecordedMachine,
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

/// Returns a knob that can also be 0, which lets Linux decide.
const fn or_zero(mut knob: Knob) -> Knob {
    if let Kind::Number { zero, .. } = &mut knob.kind {
        *zero = true;
    }
    knob
}

/// The knob that has an effect only if the trace does not record when kcompactd compacted.
const PROACTIVENESS: &str = "compaction_proactiveness";

/// The largest value of a sysctl of type `int`.
const INT_MAX: u64 = i32::MAX as u64;

/// All numeric knobs.
#[rustfmt::skip]
static NUMBERS: [Knob; 8] = [
    number("watermark_boost_factor", "1/10000", "the boost of the watermarks by a fallback; 0 for none", 0..=INT_MAX,
        |settings, value| settings.machine.watermark_boost_factor = Some(value as u32)),
    number("pageblock_order", "", "the order of a pageblock", 1..=Order::MAX.get() as u64,
        |settings, value| settings.machine.pageblock_order = Order::new(value as u8).unwrap_or(Order::MAX)),
    number("min_free_kbytes", "KiB", "the sum of the min watermarks of all zones", 0..=INT_MAX,
        |settings, value| settings.sysctls.min_free_kbytes = Some(value)),
    number("watermark_scale_factor", "1/10000", "the smallest distance between watermarks, as part of a zone", 1..=3000,
        |settings, value| settings.sysctls.watermark_scale_factor = Some(value)),
    or_zero(number("percpu_pagelist_high_fraction", "", "the part of a zone on per-CPU lists; 0 for automatic tuning", Sysctls::LEAST_HIGH_FRACTION..=INT_MAX,
        |settings, value| settings.sysctls.percpu_pagelist_high_fraction = Some(value))),
    number("defrag_mode", "", "1 to mix pageblocks only after reclaim and compaction failed", 0..=1,
        |settings, value| settings.machine.tunables.defrag_mode = value != 0),
    number(PROACTIVENESS, "%", "the aggressiveness of proactive compaction; 0 for none", 0..=100,
        |settings, value| settings.machine.tunables.compaction_proactiveness = value as u8),
    number("extfrag_threshold", "1/1000", "the smallest extfrag_index at which a costly request compacts", 0..=1000,
        |settings, value| settings.machine.tunables.extfrag_threshold = value as u16),
];

impl Knob {
    /// Returns all knobs: the era, the systems and rules, the numbers.
    pub fn all() -> impl Iterator<Item = Self> {
        let era = Self { name: "era", unit: "", doc: "the generation of the allocator", kind: Kind::Era };
        let switches = Switch::all().map(|switch| Self {
            name: switch.name(),
            unit: "",
            doc: "a system or placement rule, turned on or off in any era",
            kind: Kind::Switch(switch),
        });
        [era].into_iter().chain(switches).chain(NUMBERS)
    }

    /// Returns the knob with this name; dashes and underscores are equal.
    pub fn from_name(name: &str) -> Option<Self> {
        let plain = |name: &str| name.replace('-', "_");
        Self::all().find(|knob| plain(knob.name) == plain(name))
    }

    /// Returns the allowed values as text.
    pub fn values(&self) -> String {
        match self.kind {
            Kind::Era => Era::ALL.map(Era::name).join(", "),
            Kind::Switch(_) => "on, off".to_owned(),
            Kind::Number { least, most, zero, .. } => {
                format!("{}{least} to {most}", if zero { "0, or " } else { "" })
            }
        }
    }

    /// Returns true if the knob cannot be varied on some traces; see [`Lab::cannot_vary`].
    pub fn depends_on_trace(&self) -> bool {
        self.name == PROACTIVENESS
    }

    /// Parses a value; `None` if it is not one of [`Self::values`].
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

/// An unknown name or value. The message lists the known ones.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0}")]
pub struct UnknownSetting(pub(super) String);

/// Returns the knob with this name; dashes and underscores are equal.
///
/// # Errors
/// The name is unknown. The message lists all names.
pub fn knob(name: &str) -> Result<Knob, UnknownSetting> {
    Knob::from_name(name).ok_or_else(|| {
        UnknownSetting(format!("{name:?} cannot be varied; the settings are {}", known_knobs()))
    })
}

/// Returns the names of all knobs, separated by commas.
pub fn known_knobs() -> String {
    Knob::all().map(|knob| knob.name).collect::<Vec<_>>().join(", ")
}

/// Returns the era with this name.
///
/// # Errors
/// The name is unknown. The message lists all names.
pub fn era(name: &str) -> Result<Era, UnknownSetting> {
    let known = || Era::ALL.map(Era::name).join(", ");
    Era::from_name(name).ok_or_else(|| UnknownSetting(format!("the eras are {}", known())))
}

/// Returns the system or rule with this name.
///
/// # Errors
/// The name is unknown. The message lists all names.
pub fn switch(name: &str) -> Result<Switch, UnknownSetting> {
    let known = || Switch::all().map(Switch::name).collect::<Vec<_>>().join(", ");
    Switch::from_name(name).ok_or_else(|| UnknownSetting(format!("the systems and rules are {}", known())))
}

impl Knob {
    /// Parses a value.
    ///
    /// # Errors
    /// The value is not one of [`Self::values`], which the message lists.
    pub fn value(&self, text: &str) -> Result<Value, UnknownSetting> {
        let unknown = || format!("{text:?} is no value of {}, which has {}", self.name, self.values());
        self.parse(text).ok_or_else(|| UnknownSetting(unknown()))
    }

    /// Parses several values.
    ///
    /// # Errors
    /// A value is not one of [`Self::values`], or is given twice.
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
    /// Returns the lab of the recorded machine with changed knobs, and the variant of the allocator.
    ///
    /// # Errors
    /// Pageblocks would be larger than the machine's largest block.
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
    /// Returns the reason if a knob cannot be varied on this trace, and the alternative; `None` if it can.
    pub fn cannot_vary(&self, knob: &Knob) -> Option<String> {
        let is_bound = knob.depends_on_trace() && self.records_kcompactd();
        is_bound.then(|| {
            format!(
                "{PROACTIVENESS} cannot be varied: the trace records how often the machine's kcompactd compacted, and \
                 the replay compacts as often with any setting. Set vm.{PROACTIVENESS} on the machine and record again"
            )
        })
    }
}

impl Settings {
    /// Returns the recorded machine with changed knobs. The default era is the one nearest to the recorded kernel;
    /// the newest era of Linux if the kernel is unknown.
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
    fn knobs_accept_the_values_of_linux() {
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
