//! The product of settings.

use super::knobs::{Knob, Value};

/// The settings that a sweep varies, each with its values.
#[derive(Clone, Debug)]
pub struct Grid {
    /// The knobs with their values; no knob twice.
    pub varied: Vec<(Knob, Vec<Value>)>,
}

impl Grid {
    /// Returns the number of combinations; `None` if it is too large to count.
    pub fn combinations(&self) -> Option<usize> {
        self.varied.iter().try_fold(1_usize, |all, (_, values)| all.checked_mul(values.len()))
    }

    /// Returns the settings of the combination with this number. The last knob changes fastest.
    pub fn combination(&self, mut number: usize) -> Vec<(Knob, Value)> {
        let mut settings: Vec<_> = self
            .varied
            .iter()
            .rev()
            .map(|(knob, values)| {
                let value = values[number % values.len()].clone();
                number /= values.len();
                (*knob, value)
            })
            .collect();
        settings.reverse();
        settings
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_product_names_every_combination_once() {
        let knob = |name: &str| Knob::from_name(name).expect(name);
        let numbers = |numbers: &[u64]| numbers.iter().copied().map(Value::Number).collect::<Vec<_>>();
        let varied = vec![
            (knob("pageblock_order"), numbers(&[9, 7])),
            (knob("watermark_boost_factor"), numbers(&[0, 1, 2])),
        ];
        let grid = Grid { varied };
        assert_eq!(grid.combinations(), Some(6));
        let all: Vec<_> = (0..6)
            .map(|number| {
                grid.combination(number)
                    .iter()
                    .map(|(_, value)| value.to_string())
                    .collect::<Vec<_>>()
                    .join(" ")
            })
            .collect();
        assert_eq!(all, ["9 0", "9 1", "9 2", "7 0", "7 1", "7 2"]);
        assert_eq!(Grid { varied: Vec::new() }.combinations(), Some(1));
    }
}
