//! A baseline: a logistic curve of one number.

/// A request, as the baseline sees it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) x: f64,
    pub(super) is_served: bool,
}

/// The curve `1 / (1 + exp(-(constant + slope * x)))`.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Baseline {
    constant: f64,
    slope: f64,
}

/// Steps of the fit.
const STEPS: u32 = 2000;

/// Curves that are steeper are not tried: a slope of perfectly separable samples has no end.
const STEEPEST: f64 = 200.0;

impl Baseline {
    /// Fits the curve to samples by Newton's method, with a weak pull to zero.
    pub(super) fn fit(samples: &[Sample]) -> Self {
        let mut fitted = Self::default();
        for _ in 0..STEPS {
            // Gradient and second derivatives of the logarithmic loss.
            let (mut g0, mut g1) = (fitted.constant * 1e-3, fitted.slope * 1e-3);
            let (mut h00, mut h01, mut h11) = (1e-3, 0.0, 1e-3);
            for sample in samples {
                let probability = fitted.probability(sample.x);
                let error = probability - f64::from(u8::from(sample.is_served));
                let weight = (probability * (1.0 - probability)).max(1e-6);
                g0 += error;
                g1 += error * sample.x;
                h00 += weight;
                h01 += weight * sample.x;
                h11 += weight * sample.x * sample.x;
            }
            let determinant = h00 * h11 - h01 * h01;
            let (step0, step1) = ((h11 * g0 - h01 * g1) / determinant, (h00 * g1 - h01 * g0) / determinant);
            fitted.constant = (fitted.constant - 0.5 * step0.clamp(-1.0, 1.0)).clamp(-STEEPEST, STEEPEST);
            fitted.slope = (fitted.slope - 0.5 * step1.clamp(-5.0, 5.0)).clamp(-STEEPEST, STEEPEST);
        }
        fitted
    }

    fn probability(self, x: f64) -> f64 {
        1.0 / (1.0 + (-(self.constant + self.slope * x)).exp())
    }

    /// Returns the Brier score on samples.
    pub(super) fn brier(self, samples: &[Sample]) -> f64 {
        let error =
            |sample: &Sample| (self.probability(sample.x) - f64::from(u8::from(sample.is_served))).powi(2);
        samples.iter().map(error).sum::<f64>() / samples.len().max(1) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_curve_follows_its_samples() {
        let of = |x: f64, is_served: bool| Sample { x, is_served };
        let clear: Vec<_> = (-10..10).map(|x| of(f64::from(x), x >= 0)).collect();
        assert!(Baseline::fit(&clear).brier(&clear) < 0.01);
        let mixed: Vec<_> = (0..20).map(|at| of(1.0, at % 2 == 0)).collect();
        assert!((Baseline::fit(&mixed).brier(&mixed) - 0.25).abs() < 0.01, "it knows nothing");
    }
}
