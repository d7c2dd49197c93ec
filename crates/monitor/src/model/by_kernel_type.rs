//! A value for each migratetype of a kernel, which JSON has in the order of the kernel's types.

use std::ops::Deref;

use freehold_trace::{ByType, KernelTypes};
use serde::{Serialize, Serializer};

/// A value for each migratetype of a kernel.
///
/// It is used as [`ByType`]. It is written as an array that is as long as the kernel's types and in their order.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ByKernelType<T> {
    /// The positions of the kernel's types in `values`, in the kernel's order.
    places: Vec<usize>,
    values: ByType<T>,
}

impl<T> ByKernelType<T> {
    pub(super) fn new(types: &KernelTypes, values: ByType<T>) -> Self {
        Self { places: types.iter().map(freehold_trace::KernelType::index).collect(), values }
    }
}

impl<T> Deref for ByKernelType<T> {
    type Target = ByType<T>;

    fn deref(&self) -> &ByType<T> {
        &self.values
    }
}

impl<T: Serialize> Serialize for ByKernelType<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.places.iter().filter_map(|&place| self.values.get(place)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arrays_have_the_order_and_the_number_of_the_types() {
        let types = KernelTypes::from_names(["Unmovable", "Reclaimable", "Movable", "Reserve"]).unwrap();
        let mut values = ByType::new(&types, 0);
        for (count, kind) in (1..).zip(&types) {
            values[kind.index()] = count;
        }
        let written = serde_json::to_value(ByKernelType::new(&types, values)).unwrap();
        assert_eq!(written, serde_json::json!([1, 2, 3, 4]));
    }
}
