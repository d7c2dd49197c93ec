//! The change to predict.

use std::fmt;

use freehold::{Era, Switch};

use super::error::PredictError;
use crate::sweep::{Knob, Value};

/// The change to predict: one or several knobs of the sweep, with their new values.
#[derive(Clone, Debug)]
pub struct SettingChange {
    turned: Vec<(Knob, Value)>,
}

/// One knob with its new value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Turned {
    /// Another generation of the allocator.
    Era(Era),
    /// A system or a rule, turned on or off.
    Switch(Switch, bool),
    /// A setting with its value.
    Number(&'static str, u64),
}

impl SettingChange {
    /// Returns a change of some knobs.
    ///
    /// # Errors
    /// There is no knob, or a knob is given twice.
    pub fn new(turned: Vec<(Knob, Value)>) -> Result<Self, PredictError> {
        let names: Vec<_> = turned.iter().map(|(knob, _)| knob.name).collect();
        if names.is_empty() {
            return Err(PredictError::NoChange);
        }
        match names.iter().enumerate().find(|(at, name)| names[..*at].contains(name)) {
            Some((_, name)) => Err(PredictError::TurnedTwice { knob: name }),
            None => Ok(Self { turned }),
        }
    }

    /// Returns the knobs with their values.
    pub(super) fn turned(&self) -> &[(Knob, Value)] {
        &self.turned
    }

    /// Returns the knobs in a form to match on.
    pub(super) fn each(&self) -> impl Iterator<Item = Turned> + '_ {
        self.turned.iter().filter_map(|(knob, value)| match (Switch::from_name(knob.name), value) {
            (Some(switch), Value::Word(word)) => Some(Turned::Switch(switch, word == "on")),
            (None, Value::Word(name)) => Era::from_name(name).map(Turned::Era),
            (_, Value::Number(number)) => Some(Turned::Number(knob.name, *number)),
        })
    }

    /// Returns the value of a setting after the change; `None` if the change does not include the setting.
    pub(super) fn number(&self, name: &str) -> Option<u64> {
        self.each().find_map(|turned| match turned {
            Turned::Number(knob, number) if knob == name => Some(number),
            _ => None,
        })
    }

    /// Returns true if only settings change: the kernel stays the same.
    pub(super) fn keeps_kernel(&self) -> bool {
        self.each().all(|turned| matches!(turned, Turned::Number(..)))
    }

    /// Returns true if the change replaces the kernel, and nothing else changes.
    pub fn is_only_another_kernel(&self) -> bool {
        self.is_another_kernel() && self.each().count() == 1
    }

    /// Returns true if the change replaces the whole kernel.
    pub(super) fn is_another_kernel(&self) -> bool {
        self.each().any(|turned| matches!(turned, Turned::Era(_)))
    }
}

impl fmt::Display for Turned {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Era(era) => f.write_str(era.name()),
            Self::Switch(switch, true) => write!(f, "with {}", switch.name()),
            Self::Switch(switch, false) => write!(f, "without {}", switch.name()),
            Self::Number(knob, number) => write!(f, "{knob}={number}"),
        }
    }
}

impl fmt::Display for SettingChange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (number, turned) in self.each().enumerate() {
            let between = if number == 0 { "" } else { ", " };
            write!(f, "{between}{turned}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a change in the form of the command line.
    pub(in crate::predict) fn change(texts: &[&str]) -> Result<SettingChange, PredictError> {
        let turned = texts.iter().map(|text| {
            let (name, value) = text.split_once('=').expect("KNOB=VALUE");
            let knob = Knob::from_name(name).expect("a knob");
            let value = knob.parse(value).expect("a value");
            (knob, value)
        });
        SettingChange::new(turned.collect())
    }

    #[test]
    fn a_change_prints_its_knobs() {
        let all = change(&["era=linux-7.3", "counts=on", "hygiene=off", "watermark_boost_factor=0"]);
        let all = all.expect("a change");
        assert_eq!(all.to_string(), "linux-7.3, with counts, without hygiene, watermark_boost_factor=0");
        assert_eq!((all.number("watermark_boost_factor"), all.number("defrag_mode")), (Some(0), None));
        assert!(!all.keeps_kernel());
        assert!(change(&["watermark_boost_factor=0"]).expect("a change").keeps_kernel());
    }

    #[test]
    fn no_knob_and_duplicate_knobs_are_errors() {
        assert!(matches!(change(&[]), Err(PredictError::NoChange)));
        let twice = change(&["defrag_mode=1", "defrag_mode=0"]);
        assert!(matches!(twice, Err(PredictError::TurnedTwice { knob: "defrag_mode" })));
    }
}
