//! Thresholds: a number of the model and the value that it is compared with.

use std::fmt;
use std::str::FromStr;

use freehold::{FreeCounts, Order};

use crate::model::Model;
use crate::verdict::State;

/// A number that a model has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// The share of free memory that cannot serve a request of the order.
    UnusableIndex(Order),
    /// Why a request of the order would fail: towards 0 for lack of memory, towards 1 for
    /// fragmentation.
    ExtfragIndex(Order),
    /// How many blocks of the order the free blocks of that order and above make up.
    Blocks(Order),
    /// The verdict on the first need, as `freehold check` ends with: 0 OK, 1 WARNING, 2 CRITICAL. It is of all zones together,
    /// and unknown before the pageblocks were read once.
    Verdict,
    /// The probability that a request gets all blocks of the first need; unknown before the pageblocks were read once.
    Probability,
    /// Free pages.
    FreePages,
    /// Share of the last ten seconds in which some task waited for memory, in percent.
    PressureSome,
    /// Share of the last ten seconds in which every task waited for memory, in percent.
    PressureFull,
}

/// A quantity and the value that it is compared with.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Threshold {
    /// The number that is measured.
    pub quantity: Quantity,
    /// The value to compare with.
    pub value: f64,
}

/// The side of a threshold on which it is passed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// Greater than the value.
    Above,
    /// Smaller than the value.
    Below,
}

/// The zones that a number is taken from. All of them together make one number.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Zones {
    /// Only zones of this name, whatever the case.
    pub name: Option<String>,
    /// Only zones of this node.
    pub node: Option<u32>,
}

impl Zones {
    /// Returns the sum of these zones' free blocks by order, or `None` if the machine has no such
    /// zone.
    fn free(&self, model: &Model) -> Option<FreeCounts> {
        let wanted = model.zones.iter().filter(|zone| {
            self.name.as_ref().is_none_or(|name| name.eq_ignore_ascii_case(&zone.name))
                && self.node.is_none_or(|node| node == zone.node)
        });
        wanted.fold(None, |sum: Option<FreeCounts>, zone| {
            let mut sum = sum.unwrap_or_default();
            for (total, count) in sum.total.iter_mut().zip(&zone.free) {
                *total += count.blocks;
            }
            Some(sum)
        })
    }

    /// Returns true if the machine has such a zone.
    pub fn exist_in(&self, model: &Model) -> bool {
        self.free(model).is_some()
    }
}

impl Quantity {
    /// Returns the number in `model`, or `None` if it is unknown or has no value now.
    pub fn measure(self, model: &Model, zones: &Zones) -> Option<f64> {
        let free = || zones.free(model);
        match self {
            Self::UnusableIndex(order) => Some(free()?.unusable_index(order) as f64 / 1000.0),
            Self::ExtfragIndex(order) => {
                let thousandths = free()?.extfrag_index(order);
                (thousandths != -1000).then_some(thousandths as f64 / 1000.0)
            }
            Self::Blocks(order) => {
                let pages = |(at, blocks): (usize, &u64)| blocks << at;
                let total: u64 = free()?.total.iter().enumerate().skip(order.index()).map(pages).sum();
                Some((total >> order.get()) as f64)
            }
            Self::Verdict => {
                let state = model.verdicts.first()?.state;
                (state != State::Unknown).then(|| f64::from(state.exit_code()))
            }
            Self::Probability => Some(model.verdicts.first()?.forecast?.probability),
            Self::FreePages => Some(free()?.free_pages() as f64),
            Self::PressureSome => Some(model.pressure?.some.avg10),
            Self::PressureFull => Some(model.pressure?.full.avg10),
        }
    }

    /// Returns the order that the number is of.
    pub fn order(self) -> Option<Order> {
        match self {
            Self::UnusableIndex(order) | Self::ExtfragIndex(order) | Self::Blocks(order) => Some(order),
            Self::Verdict | Self::Probability | Self::FreePages | Self::PressureSome | Self::PressureFull => {
                None
            }
        }
    }

    /// Returns the largest value, for a number that has one. The least is 0.
    pub fn most(self) -> Option<f64> {
        match self {
            Self::Probability | Self::UnusableIndex(_) => Some(1.0),
            Self::PressureSome | Self::PressureFull => Some(100.0),
            Self::Verdict | Self::ExtfragIndex(_) | Self::Blocks(_) | Self::FreePages => None,
        }
    }

    /// Returns true if the number takes a survey of pageblocks, which root alone may make.
    pub fn needs_pageblocks(self) -> bool {
        matches!(self, Self::Verdict | Self::Probability)
    }

    /// Returns true if the number comes from `/proc/pressure`, which a kernel may lack.
    pub fn needs_pressure(self) -> bool {
        matches!(self, Self::PressureSome | Self::PressureFull)
    }
}

impl Threshold {
    /// Returns the measured number if it is on `side` of the threshold.
    pub fn passed(&self, side: Side, model: &Model, zones: &Zones) -> Option<f64> {
        self.quantity.measure(model, zones).filter(|&measured| match side {
            Side::Above => measured > self.value,
            Side::Below => measured < self.value,
        })
    }
}

impl fmt::Display for Quantity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::UnusableIndex(order) => write!(f, "unusable_index:{order}"),
            Self::ExtfragIndex(order) => write!(f, "extfrag_index:{order}"),
            Self::Blocks(order) => write!(f, "blocks:{order}"),
            Self::Verdict => f.write_str("verdict"),
            Self::Probability => f.write_str("probability"),
            Self::FreePages => f.write_str("free_pages"),
            Self::PressureSome => f.write_str("pressure_some"),
            Self::PressureFull => f.write_str("pressure_full"),
        }
    }
}

impl FromStr for Threshold {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (quantity, value) =
            text.split_once('=').ok_or("a threshold is METRIC=VALUE, such as unusable_index:9=0.8")?;
        let value: f64 = value.parse().map_err(|_| format!("{value:?} is not a number"))?;
        if !value.is_finite() {
            return Err(format!("{value} is not a number that can be passed"));
        }
        let quantity: Quantity = quantity.parse()?;
        if let Some(most) = quantity.most().filter(|&most| !(0.0..=most).contains(&value)) {
            let hint =
                if quantity == Quantity::Probability { "; for 50 % write probability=0.5" } else { "" };
            return Err(format!("{quantity} is 0 to {most}{hint}"));
        }
        Ok(Self { quantity, value })
    }
}

impl FromStr for Quantity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (name, order) = text.split_once(':').map_or((text, None), |(name, order)| (name, Some(order)));
        let with_order = |quantity: fn(Order) -> Self| {
            let order = order.ok_or_else(|| format!("{name} needs an order, such as {name}:9"))?;
            let order = order.parse().ok().and_then(Order::new);
            order.map(quantity).ok_or_else(|| format!("an order is 0 to {}", Order::MAX))
        };
        let without = |quantity| match order {
            Some(_) => Err(format!("{name} has no order")),
            None => Ok(quantity),
        };
        match name {
            "unusable_index" => with_order(Self::UnusableIndex),
            "extfrag_index" => with_order(Self::ExtfragIndex),
            "blocks" => with_order(Self::Blocks),
            "verdict" => without(Self::Verdict),
            "probability" => without(Self::Probability),
            "free_pages" => without(Self::FreePages),
            "pressure_some" => without(Self::PressureSome),
            "pressure_full" => without(Self::PressureFull),
            _ => Err(format!(
                "no metric {name:?}; there are unusable_index, extfrag_index, blocks, verdict, probability, \
                 free_pages, pressure_some and pressure_full"
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use freehold_linux::procfs::{Machine, Pressure};

    use super::*;
    use crate::sample_tests::sample;

    fn model() -> Model {
        let mut sample = sample(0, "Normal", 96);
        sample.free.zones[0].total[3].blocks = 4;
        sample.free.zones.push(sample.free.zones[0].clone());
        sample.free.zones[1].name = "DMA".to_owned();
        sample.free.zones[1].node = 1;
        Model::new(&Machine::default(), None, &sample)
    }

    fn measure(metric: &str, zones: &Zones) -> Option<f64> {
        metric.parse::<Quantity>().unwrap().measure(&model(), zones)
    }

    #[test]
    fn zones_are_taken_together() {
        let all = Zones::default();
        assert_eq!(measure("free_pages", &all), Some(256.0));
        assert_eq!(measure("blocks:3", &all), Some(8.0));
        assert_eq!(measure("blocks:4", &all), Some(0.0));
        assert_eq!(measure("unusable_index:3", &all), Some(0.75));
        assert_eq!(measure("extfrag_index:3", &all), None);
        assert_eq!(measure("pressure_some", &all), None, "the sample has none");
        let one = Zones { node: Some(1), name: Some("dma".to_owned()) };
        assert_eq!(measure("free_pages", &one), Some(128.0));
        assert_eq!(measure("free_pages", &Zones { node: Some(7), ..Zones::default() }), None);
    }

    #[test]
    fn thresholds_have_two_sides() {
        let threshold: Threshold = "free_pages=200".parse().unwrap();
        let all = Zones::default();
        assert_eq!(threshold.passed(Side::Above, &model(), &all), Some(256.0));
        assert_eq!(threshold.passed(Side::Below, &model(), &all), None);
        let mut pressed = model();
        pressed.pressure = Some(Pressure::default());
        let full: Threshold = "pressure_full=0".parse().unwrap();
        assert_eq!(full.passed(Side::Below, &pressed, &all), None, "equal is on neither side");
    }

    #[test]
    fn what_is_no_threshold_is_named() {
        let wrong = |text: &str| text.parse::<Threshold>().unwrap_err();
        assert!(wrong("free_pages").contains("METRIC=VALUE"));
        assert!(wrong("free_pages:3=1").contains("has no order"));
        assert!(wrong("blocks=1").contains("blocks:9"));
        assert!(wrong("blocks:19=1").contains("0 to 18"));
        for (text, range) in [
            ("probability=50", "0 to 1; for 50 % write probability=0.5"),
            ("unusable_index:9=90", "0 to 1"),
            ("pressure_some=101", "0 to 100"),
            ("pressure_full=-1", "0 to 100"),
        ] {
            assert!(wrong(text).ends_with(range), "{text}");
        }
        assert!(wrong("blocks:3=NaN").contains("can be passed"));
        assert!(wrong("luck=1").contains("unusable_index"));
        for metric in [
            "unusable_index:9",
            "extfrag_index:1",
            "blocks:0",
            "blocks:18",
            "probability",
            "free_pages",
            "pressure_some",
            "pressure_full",
        ] {
            assert_eq!(metric.parse::<Quantity>().unwrap().to_string(), metric);
        }
    }
}
