//! Arguments that several commands share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use freehold::{Era, Order, Switch};
use freehold_lab::sweep::{self, Knob, Value};

/// Which trace, and how it is shown.
#[derive(Args, Debug)]
pub(crate) struct Input {
    /// The trace.
    pub(crate) trace: PathBuf,
    /// Use the readable part of a truncated trace.
    #[arg(long)]
    pub(crate) partial: bool,
}

/// The trace that a command makes.
#[derive(Args, Debug)]
pub(crate) struct NewTrace {
    /// The trace to write.
    #[arg(short, long, value_name = "FILE")]
    pub(crate) output: PathBuf,
    /// Replace the file if it exists.
    #[arg(long)]
    pub(crate) force: bool,
}

impl NewTrace {
    /// Returns it as messages name it.
    pub(crate) fn name(&self) -> String {
        self.output.display().to_string()
    }
}

impl Input {
    /// Returns the trace, as messages name it.
    pub(crate) fn name(&self) -> String {
        self.trace.display().to_string()
    }
}

/// In which form tables are printed.
#[derive(Args, Debug, Clone, Copy)]
#[group(multiple = false)]
pub(crate) struct Form {
    /// Print JSON.
    #[arg(long)]
    pub(crate) json: bool,
    /// Print comma-separated values.
    #[arg(long)]
    pub(crate) csv: bool,
}

pub(super) fn parse_era(name: &str) -> Result<Era, String> {
    sweep::era(name).map_err(|error| error.to_string())
}

pub(super) fn parse_switch(name: &str) -> Result<Switch, String> {
    sweep::switch(name).map_err(|error| error.to_string())
}

/// Reads a setting of the form `SETTING=VALUE`. Returns its knob, and the text of the value.
pub(super) fn parse_knob<'t>(text: &'t str, value: &str) -> Result<(Knob, &'t str), String> {
    let parts = text.split_once('=');
    let (name, value) =
        parts.ok_or_else(|| format!("SETTING={value}; the settings are {}", sweep::known_knobs()))?;
    Ok((sweep::knob(name).map_err(|error| error.to_string())?, value))
}

pub(super) fn parse_value(knob: Knob, text: &str) -> Result<Value, String> {
    knob.value(text).map_err(|error| error.to_string())
}

pub(super) fn parse_order(text: &str) -> Result<Order, String> {
    let wrong =
        || format!("an order is 0 to {}, and no size; order 3 is 32 KiB with pages of 4 KiB", Order::MAX);
    text.parse().ok().and_then(Order::new).ok_or_else(wrong)
}

pub(super) fn parse_node(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| "a node is a number, such as 0".to_owned())
}

pub(super) fn parse_seconds(text: &str) -> Result<Duration, String> {
    let wrong = || "a number of seconds above 0, such as 5 or 0.5".to_owned();
    let seconds: f64 = text.parse().map_err(|_| wrong())?;
    let duration = Duration::try_from_secs_f64(seconds).map_err(|_| wrong())?;
    if duration.is_zero() { Err(wrong()) } else { Ok(duration) }
}

/// Parses a number and its unit. Returns `None` if the unit is not one of `units` or the result does not
/// fit.
pub(super) fn parse_size(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let &(_, factor) = units.iter().find(|(name, _)| *name == unit.trim())?;
    number.parse::<u64>().ok()?.checked_mul(factor)
}

/// Parses a time with its unit. Returns `None` if it has none or the result does not fit.
pub(super) fn parse_time(text: &str) -> Option<Duration> {
    let units = [
        ("us", 1),
        ("ms", 1000),
        ("s", 1_000_000),
        ("m", 60_000_000),
        ("min", 60_000_000),
        ("h", 3_600_000_000),
    ];
    parse_size(text, &units).map(Duration::from_micros)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        let size = |text| parse_size(text, &[("", 1), ("k", 1000)]);
        assert_eq!((size("5"), size("5 k"), size("5k")), (Some(5), Some(5000), Some(5000)));
        for wrong in ["", "k", "-1", "1.5k", "5m", "99999999999999999999k"] {
            assert_eq!(size(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn orders_have_bounds() {
        assert!(parse_order("19").is_err() && parse_order("x").is_err());
        assert_eq!(["4", "18"].map(|text| parse_order(text).map(Order::get)), [Ok(4), Ok(18)]);
    }
}
