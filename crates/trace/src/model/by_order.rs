//! A value for each order of a machine.

use std::fmt;
use std::ops::{Deref, DerefMut};

use freehold::{MAX_ORDERS, Order};
use serde::de::{SeqAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A value for each order that a machine has, from order 0 on: 1 to [`MAX_ORDERS`] values, in place.
///
/// It dereferences to the slice of its values. [`Default`] has the orders of a kernel with pages of 4 KiB and the
/// default configuration.
#[derive(Clone, Copy)]
pub struct ByOrder<T> {
    /// Values behind those of the largest order are [`Default`].
    values: [T; MAX_ORDERS],
    largest: Order,
}

impl<T: Copy + Default> ByOrder<T> {
    /// Returns [`Default`] values for the orders up to and including `largest`.
    pub fn new(largest: Order) -> Self {
        Self { values: [T::default(); MAX_ORDERS], largest }
    }

    /// Returns the values of `of` for the orders up to and including `largest`.
    pub fn from_fn(largest: Order, mut of: impl FnMut(Order) -> T) -> Self {
        let mut all = Self::new(largest);
        for (value, order) in all.iter_mut().zip(Order::all()) {
            *value = of(order);
        }
        all
    }

    /// Returns `values`, which start at order 0. Returns `None` if there are none, or more than [`MAX_ORDERS`].
    pub fn from_values(values: &[T]) -> Option<Self> {
        let largest = values.len().checked_sub(1).and_then(|largest| u8::try_from(largest).ok());
        let mut all = Self::new(largest.and_then(Order::new)?);
        all.copy_from_slice(values);
        Some(all)
    }

    /// Returns a reference to the value of `order`. If `order` exceeds the largest order, it becomes the largest.
    pub fn widened(&mut self, order: Order) -> &mut T {
        self.largest = self.largest.max(order);
        &mut self.values[order.index()]
    }

    /// Returns the results of `of` for each value.
    pub fn map<U: Copy + Default>(&self, mut of: impl FnMut(T) -> U) -> ByOrder<U> {
        ByOrder::from_fn(self.largest, |order| of(self.values[order.index()]))
    }

    /// Returns the value of `order`, or [`Default`] if the machine has no such order.
    pub fn of(&self, order: usize) -> T {
        self.get(order).copied().unwrap_or_default()
    }
}

impl<T> ByOrder<T> {
    /// Returns the largest order.
    pub fn largest(&self) -> Order {
        self.largest
    }
}

impl<T: Copy + Default> Default for ByOrder<T> {
    fn default() -> Self {
        Self::new(Order::MAX_PAGE_ORDER)
    }
}

impl<T> Deref for ByOrder<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.values[..=self.largest.index()]
    }
}

impl<T> DerefMut for ByOrder<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.values[..=self.largest.index()]
    }
}

impl<'a, T> IntoIterator for &'a ByOrder<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter()
    }
}

impl<T: PartialEq> PartialEq for ByOrder<T> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: Eq> Eq for ByOrder<T> {}

impl<T: fmt::Debug> fmt::Debug for ByOrder<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: Serialize> Serialize for ByOrder<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self)
    }
}

impl<'de, T: Copy + Default + Deserialize<'de>> Deserialize<'de> for ByOrder<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Values(std::marker::PhantomData))
    }
}

/// Reads the values of a [`ByOrder`].
struct Values<T>(std::marker::PhantomData<T>);

impl<'de, T: Copy + Default + Deserialize<'de>> Visitor<'de> for Values<T> {
    type Value = ByOrder<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "values of 1 to {MAX_ORDERS} orders")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<ByOrder<T>, A::Error> {
        let mut read = Vec::new();
        while let Some(value) = values.next_element()? {
            read.push(value);
            if read.len() > MAX_ORDERS {
                break;
            }
        }
        ByOrder::from_values(&read).ok_or_else(|| serde::de::Error::invalid_length(read.len(), &self))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn has_the_orders_of_the_machine() {
        let orders = |number: u8| ByOrder::<u64>::new(Order::new(number - 1).unwrap());
        assert_eq!([1, 11, 14, 19].map(|number| orders(number).len()), [1, 11, 14, 19]);
        let mut counts = ByOrder::from_values(&[7_u64, 8, 9]).unwrap();
        counts[2] += 1;
        assert_eq!(
            (&counts[..], counts.largest(), counts.of(2), counts.of(3)),
            (&[7, 8, 10][..], Order::new(2).unwrap(), 10, 0)
        );
        assert_eq!(counts.map(|count| count > 7)[..], [false, true, true]);
        *counts.widened(Order::new(4).unwrap()) += 1;
        assert_eq!(counts[..], [7, 8, 10, 0, 1]);
        assert_eq!(ByOrder::<u8>::default().len(), 11);
        assert!(ByOrder::<u64>::from_values(&[]).is_none() && ByOrder::from_values(&[0; 20]).is_none());
    }

    #[test]
    fn serializes_as_a_list() {
        let counts = ByOrder::from_values(&[1_u64, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14]).unwrap();
        let text = serde_json::to_string(&counts).unwrap();
        assert_eq!(text, "[1,2,3,4,5,6,7,8,9,10,11,12,13,14]");
        assert_eq!(serde_json::from_str::<ByOrder<u64>>(&text).unwrap(), counts);
        assert_ne!(counts, ByOrder::from_values(&counts[..13]).unwrap());
        let most = serde_json::to_string(&[0; 20]).unwrap();
        for wrong in ["[]", &most] {
            let error = serde_json::from_str::<ByOrder<u64>>(wrong).unwrap_err().to_string();
            assert!(error.contains("1 to 19 orders"), "{error}");
        }
    }
}
