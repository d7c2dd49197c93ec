//! Counts verdicts.

use freehold_lab::predict::PredictionVerdict;

use super::predicted::Measure;

/// The smallest share of the observed differences whose direction must be predicted.
pub(crate) const DIRECTION_GOAL: f64 = 0.90;

/// The smallest share of the observed differences whose size must be predicted.
pub(crate) const SIZE_GOAL: f64 = 0.70;

/// The largest share of the predicted differences that may be false alarms.
pub(crate) const FALSE_ALARM_GOAL: f64 = 0.10;

/// Numbers of verdicts.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub(crate) struct Score {
    pub(crate) right: u32,
    pub(crate) size: u32,
    pub(crate) direction: u32,
    pub(crate) missed: u32,
    pub(crate) false_alarm: u32,
    pub(crate) quiet: u32,
    pub(crate) undecided: u32,
}

impl Score {
    /// Counts the verdicts of some measures.
    pub(crate) fn of<'a>(measures: impl IntoIterator<Item = &'a Measure>) -> Self {
        let mut score = Self::default();
        for measure in measures {
            let count = match measure.verdict {
                PredictionVerdict::Right => &mut score.right,
                PredictionVerdict::Size => &mut score.size,
                PredictionVerdict::Direction => &mut score.direction,
                PredictionVerdict::Missed => &mut score.missed,
                PredictionVerdict::FalseAlarm => &mut score.false_alarm,
                PredictionVerdict::Quiet => &mut score.quiet,
                PredictionVerdict::Undecided => &mut score.undecided,
            };
            *count += 1;
        }
        score
    }

    /// Returns the number of differences that were observed beyond the noise, without undecided ones.
    pub(crate) fn observed(&self) -> u32 {
        self.right + self.size + self.direction + self.missed
    }

    /// Returns the number of predicted differences that were compared with an observation.
    pub(crate) fn predicted(&self) -> u32 {
        self.right + self.size + self.direction + self.false_alarm
    }

    /// Returns the share of the observed differences whose direction was predicted; `None` if none was observed.
    pub(crate) fn direction_share(&self) -> Option<f64> {
        share(self.right + self.size, self.observed())
    }

    /// Returns the share of the observed differences whose direction and size were predicted; `None` if none was
    /// observed.
    pub(crate) fn size_share(&self) -> Option<f64> {
        share(self.right, self.observed())
    }

    /// Returns the share of the predicted differences that were observed in the same direction; `None` if none was
    /// predicted.
    pub(crate) fn kept_share(&self) -> Option<f64> {
        share(self.right + self.size, self.predicted())
    }

    /// Returns the share of the predicted differences that were not observed; `None` if none was predicted.
    pub(crate) fn false_alarm_share(&self) -> Option<f64> {
        share(self.false_alarm, self.predicted())
    }

    /// Returns true if all three goals are reached.
    pub(crate) fn is_reached(&self) -> bool {
        self.direction_share().is_none_or(|share| share >= DIRECTION_GOAL)
            && self.size_share().is_none_or(|share| share >= SIZE_GOAL)
            && self.false_alarm_share().is_none_or(|share| share < FALSE_ALARM_GOAL)
    }
}

fn share(part: u32, of: u32) -> Option<f64> {
    (of > 0).then(|| f64::from(part) / f64::from(of))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missed_differences_lower_the_direction_share() {
        let score = Score { right: 7, size: 2, missed: 1, ..Score::default() };
        assert_eq!((score.direction_share(), score.size_share()), (Some(0.9), Some(0.7)));
        assert!(score.is_reached());
        assert!(!Score { missed: 2, ..score }.is_reached());
        assert!(!Score { direction: 1, ..score }.is_reached());
        assert!(!Score { size: 3, right: 6, ..score }.is_reached());
    }

    #[test]
    fn false_alarms_count_as_predicted() {
        let score = Score { right: 19, false_alarm: 1, quiet: 1000, ..Score::default() };
        assert_eq!(score.false_alarm_share(), Some(0.05));
        assert!(score.is_reached());
        assert!(!Score { false_alarm: 3, ..score }.is_reached(), "quiet measures do not lower the share");
        assert_eq!((score.kept_share(), Score::default().direction_share()), (Some(0.95), None));
    }
}
