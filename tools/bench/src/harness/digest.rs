//! A digest of the work that was done.

use freehold::Pfn;

/// A digest of the work, so that the compiler cannot remove any of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Digest(pub u64);

impl Digest {
    /// Adds a number.
    pub fn add(&mut self, number: u64) {
        self.0 = (self.0 ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29);
    }

    /// Adds the frames in all places.
    pub fn add_places(&mut self, places: &[Option<Pfn>]) {
        for pfn in places.iter().flatten() {
            self.add(pfn.0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_depends_on_the_order() {
        let digest = |numbers: [u64; 2]| {
            let mut digest = Digest::default();
            for number in numbers {
                digest.add(number);
            }
            digest
        };
        assert_ne!(digest([1, 2]), digest([2, 1]));
    }
}
