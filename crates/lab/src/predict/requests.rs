//! What the machine was asked for on both sides: a change of the allocator is not to be told from one of the requests.

use super::noise::{mean, unpaired};
use super::short::number;
use crate::counts::ByOrder;

/// The share of the requested pages that may be requested otherwise.
const SAME: f64 = 0.10;

/// Returns a sentence if the recordings under a change asked for blocks of other sizes, or for more or fewer of them, than
/// those before: by more than a tenth of the pages, and beyond the noise. `None` if they asked for the same.
pub(super) fn asked_otherwise(before: &[ByOrder], came: &[ByOrder]) -> Option<String> {
    let orders = before.first()?.len();
    let of_order =
        |side: &[ByOrder], order: usize| side.iter().map(|each| each[order] as f64).collect::<Vec<_>>();
    let pages = |side: &[ByOrder]| -> Vec<f64> {
        (0..orders).map(|order| mean(&of_order(side, order)) * (1_u64 << order) as f64).collect()
    };
    let (from, to) = (pages(before), pages(came));
    let differing: Vec<f64> = from.iter().zip(&to).map(|(from, to)| (from - to).abs()).collect();
    let all = from.iter().sum::<f64>().max(to.iter().sum());
    if differing.iter().sum::<f64>() <= SAME * all {
        return None;
    }
    let most = (0..orders).max_by(|&one, &other| differing[one].total_cmp(&differing[other]))?;
    let (one, other) = (of_order(before, most), of_order(came, most));
    unpaired(&one, &other).filter(|difference| difference.is_beyond_noise())?;
    let [one, other] = [one, other].map(|values| number(mean(&values)));
    Some(format!(
        "the machine asked otherwise under the change: {other} blocks of order {most}, {one} before"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recordings(of: &[[u64; 3]]) -> Vec<ByOrder> {
        let requests = |few: &[u64; 3]| {
            let mut all = ByOrder::default();
            all[..3].copy_from_slice(few);
            all
        };
        of.iter().map(requests).collect()
    }

    #[test]
    fn the_same_requests_are_no_difference() {
        let before = recordings(&[[1000, 5, 0], [1010, 4, 0], [990, 6, 0]]);
        assert_eq!(asked_otherwise(&before, &before), None);
        let fewer = recordings(&[[910, 5, 0], [915, 5, 0], [905, 5, 0]]);
        assert_eq!(asked_otherwise(&before, &fewer), None, "nine of a hundred");
        assert_eq!(asked_otherwise(&[], &[]), None);
    }

    #[test]
    fn other_sizes_and_other_numbers_are_told() {
        let before = recordings(&[[1000, 5, 0], [1010, 4, 0], [990, 6, 0]]);
        let larger = recordings(&[[800, 5, 50], [805, 5, 50], [795, 5, 50]]);
        let told = asked_otherwise(&before, &larger).expect("as many pages, in other blocks");
        assert!(
            told.contains("50 blocks of order 2, 0 before") || told.contains("800 blocks of order 0"),
            "{told}"
        );
        let fewer = recordings(&[[800, 5, 0], [805, 5, 0], [795, 5, 0]]);
        assert!(asked_otherwise(&before, &fewer).expect("fewer").contains("order 0, 1"));
    }

    #[test]
    fn what_scatters_as_much_is_no_difference() {
        let before = recordings(&[[1000, 0, 0], [1500, 0, 0], [700, 0, 0]]);
        let came = recordings(&[[1200, 0, 0], [900, 0, 0], [600, 0, 0]]);
        assert_eq!(asked_otherwise(&before, &came), None);
    }
}
