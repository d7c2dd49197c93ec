//! The distribution of the number of blocks that a request gets.

use super::inputs::ForecastInputs;
use super::requester::Requester;

/// One outcome of the kernel's work: the number of blocks, how much it varies, and how likely it is.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Outcome {
    blocks: f64,
    /// The scale of a logistic distribution around it.
    spread: f64,
    weight: f64,
}

/// How likely each outcome is, and how much it varies. The numbers were chosen by the states of `docs/evidence/calibration.md`
/// that are not kept for proof.
#[derive(Clone, Copy, Debug)]
struct Coefficients {
    /// Nothing more than what is free.
    now: f64,
    /// What the first attempt of direct compaction makes.
    direct: f64,
    /// What clean page cache and compaction make.
    clean: f64,
    /// What all reclaim and compaction make.
    all: f64,
    /// The part of each outcome that is served.
    served: f64,
    /// The spread in blocks of 2 MiB, and as a part of the outcome.
    spread: (f64, f64),
}

const HUGETLB: Coefficients =
    Coefficients { now: 0.05, direct: 0.01, clean: 0.02, all: 0.92, served: 0.92, spread: (1.0, 0.016) };

const THP: Coefficients =
    Coefficients { now: 0.06, direct: 0.48, clean: 0.18, all: 0.28, served: 0.98, spread: (1.0, 0.006) };

const REPAIR: Coefficients =
    Coefficients { now: 0.01, direct: 0.02, clean: 0.02, all: 0.95, served: 0.90, spread: (1.0, 0.019) };

/// Single pages: reclaim goes on until all of it is used. A judgement, as no state of the evidence has such requests.
const PAGES: Coefficients =
    Coefficients { now: 0.01, direct: 0.01, clean: 0.03, all: 0.95, served: 0.95, spread: (1.0, 0.01) };

/// The most blocks of a machine on which the numbers above were chosen.
const CALIBRATED: u64 = 512;

/// Weights for requests that may wait, on machines with more blocks, where the kernel gives up sooner. They are a judgement from ten
/// requests on machines of 24 GiB, of which five were served. `docs/evidence/calibration.md` has 33 others.
const LARGE: Coefficients =
    Coefficients { now: 0.10, direct: 0.25, clean: 0.15, all: 0.50, served: 0.92, spread: (1.0, 0.02) };

/// The probability that what is free stays so until it is requested.
const STAYS_FREE: f64 = 0.97;

/// The number of blocks that a request gets, as a mixture of outcomes.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Curve {
    outcomes: Vec<Outcome>,
    /// So many are free, and come unless somebody else takes them.
    now: u64,
    /// No request gets more.
    most: u64,
}

impl Curve {
    /// Returns the curve of a request by `by`.
    pub(super) fn new(by: Requester, inputs: &ForecastInputs) -> Self {
        let coefficients = match by {
            Requester::Hugetlb | Requester::Alloc | Requester::Thp if inputs.all > CALIBRATED => LARGE,
            Requester::Hugetlb | Requester::Alloc | Requester::Range => HUGETLB,
            Requester::Thp => THP,
            Requester::Pages => PAGES,
            Requester::Repair => REPAIR,
            Requester::ThpNoWait | Requester::Atomic => {
                Coefficients { now: 1.0, direct: 0.0, clean: 0.0, all: 0.0, ..THP }
            }
        };
        let all = inputs.dropped_at_most.max(inputs.swapped_at_most).max(inputs.clean_at_most);
        let outcomes = [
            (inputs.now, coefficients.now),
            (inputs.direct, coefficients.direct),
            (inputs.clean_at_most, coefficients.clean),
            (all, coefficients.all),
        ];
        let total: f64 = outcomes.iter().map(|(_, weight)| weight).sum();
        let outcome = |(blocks, weight): (u64, f64)| {
            // What is free is served whole; work may fall short.
            let worked = blocks.saturating_sub(inputs.now) as f64;
            let blocks = blocks as f64;
            // A few blocks cannot be missed by more than themselves.
            let spread =
                0.1 + coefficients.spread.0 * (blocks / 10.0).min(1.0) + coefficients.spread.1 * blocks;
            Outcome { blocks: blocks - worked * (1.0 - coefficients.served), spread, weight: weight / total }
        };
        Self { outcomes: outcomes.map(outcome).to_vec(), now: inputs.now, most: inputs.all }
    }

    /// Returns the probability that a request for so many blocks gets them all.
    pub(super) fn probability(&self, blocks: u64) -> f64 {
        if blocks == 0 {
            return 1.0;
        }
        if blocks > self.most {
            return 0.0;
        }
        let of = |outcome: &Outcome| {
            let above = (blocks as f64 - 0.5 - outcome.blocks) / outcome.spread;
            outcome.weight / (1.0 + above.exp())
        };
        let worked: f64 = self.outcomes.iter().map(of).sum();
        if blocks <= self.now { worked.max(STAYS_FREE) } else { worked }
    }

    /// Returns the most blocks that a request gets with this probability.
    pub(super) fn blocks_at(&self, probability: f64) -> u64 {
        let (mut few, mut many) = (0, self.most.saturating_add(1));
        while many - few > 1 {
            let middle = few + (many - few) / 2;
            if self.probability(middle) >= probability { few = middle } else { many = middle }
        }
        few
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn inputs() -> ForecastInputs {
        ForecastInputs {
            now: 60,
            direct: 70,
            clean_at_most: 110,
            dropped_at_most: 180,
            all: 230,
            ..ForecastInputs::default()
        }
    }

    #[test]
    fn more_blocks_are_never_more_likely() {
        for by in
            [Requester::Hugetlb, Requester::Thp, Requester::ThpNoWait, Requester::Atomic, Requester::Repair]
        {
            let curve = Curve::new(by, &inputs());
            let probabilities: Vec<_> = (0..=240).map(|blocks| curve.probability(blocks)).collect();
            assert!(probabilities.is_sorted_by(|more, less| more >= less), "{by:?}: {probabilities:?}");
            assert!(
                probabilities[1] > 0.99 && probabilities[230] < 0.1 && probabilities[231] == 0.0,
                "{by:?}: {probabilities:?}"
            );
        }
    }

    #[test]
    fn numbers_and_probabilities_agree() {
        let curve = Curve::new(Requester::Hugetlb, &inputs());
        for probability in [0.1, 0.5, 0.9] {
            let blocks = curve.blocks_at(probability);
            assert!(curve.probability(blocks) >= probability, "{probability}: {blocks}");
            assert!(curve.probability(blocks + 1) < probability, "{probability}: {blocks}");
        }
        assert_eq!(Curve::new(Requester::Hugetlb, &ForecastInputs::default()).blocks_at(0.5), 0);
    }

    #[test]
    fn a_large_machine_is_less_sure() {
        let large = ForecastInputs { all: 12_000, ..inputs() };
        let probability = |inputs: &ForecastInputs| Curve::new(Requester::Hugetlb, inputs).probability(150);
        assert!(
            probability(&inputs()) > 0.85 && (0.4..0.6).contains(&probability(&large)),
            "{}",
            probability(&large)
        );
    }

    #[test]
    fn faults_that_do_not_wait_get_what_is_free() {
        let curve = Curve::new(Requester::ThpNoWait, &inputs());
        assert!(curve.probability(50) > 0.9 && curve.probability(75) < 0.1);
        assert!(Curve::new(Requester::Thp, &inputs()).probability(75) > 0.3);
    }
}
