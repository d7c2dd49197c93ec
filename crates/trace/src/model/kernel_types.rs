//! The migratetypes of a kernel, including types that its vendor added.

use std::fmt;
use std::ops::{Deref, DerefMut};

use freehold::{MIGRATETYPES, Migratetype};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most migratetypes of a kernel: twice the number that fits into the three bits of a pageblock's type in Linux.
const MAX_TYPES: usize = 16;

/// The most bytes of a migratetype's name.
const MAX_NAME_BYTES: usize = 32;

/// A migratetype of a kernel.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub enum KernelType {
    /// A type of Linux.
    Linux(Migratetype),
    /// A type that this version does not know.
    Other {
        /// The place of the type among the kernel's unknown types, from 0 on.
        place: u8,
        /// The name that the kernel prints.
        name: Box<str>,
    },
}

impl KernelType {
    /// Returns the name that `/proc/pagetypeinfo` prints.
    pub fn name(&self) -> &str {
        match self {
            Self::Linux(kind) => kind.name(),
            Self::Other { name, .. } => name,
        }
    }

    /// Returns the index into a [`ByType`] of the kernel.
    pub fn index(&self) -> usize {
        match self {
            Self::Linux(kind) => kind.index(),
            Self::Other { place, .. } => MIGRATETYPES + usize::from(*place),
        }
    }

    /// Returns the type of Linux that is nearest to this one. For an unknown type that is movable, because vendors add
    /// types for movable pages.
    pub fn nearest(&self) -> Migratetype {
        self.linux().unwrap_or(Migratetype::Movable)
    }

    /// Returns the type if it is a type of Linux.
    pub fn linux(&self) -> Option<Migratetype> {
        match self {
            Self::Linux(kind) => Some(*kind),
            Self::Other { .. } => None,
        }
    }
}

impl fmt::Display for KernelType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The migratetypes of a kernel, ordered by the kernel's numbers. No type occurs twice.
///
/// It is serialized as a list of discriminants. An unknown type is its name.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KernelTypes(Vec<KernelType>);

impl KernelTypes {
    /// Returns the types with these names, in the same order.
    ///
    /// # Errors
    /// The first name that is not valid, occurs twice, or exceeds the largest number of types.
    pub fn from_names<'n>(names: impl IntoIterator<Item = &'n str>) -> Result<Self, &'n str> {
        let mut types = Self::default();
        for name in names {
            types.add(name).ok_or(name)?;
        }
        Ok(types)
    }

    /// Adds the type that the kernel prints as `name`. Returns `None` if the name is not valid, already exists, or
    /// there are too many types.
    pub fn add(&mut self, name: &str) -> Option<&KernelType> {
        let is_name =
            (1..=MAX_NAME_BYTES).contains(&name.len()) && name.bytes().all(|byte| byte.is_ascii_graphic());
        if !is_name || self.0.len() == MAX_TYPES || self.find(name).is_some() {
            return None;
        }
        self.0.push(match Migratetype::from_name(name) {
            Some(kind) => KernelType::Linux(kind),
            None => KernelType::Other { place: self.others() as u8, name: name.into() },
        });
        self.0.last()
    }

    /// Returns the type that the kernel prints as `name`.
    pub fn find(&self, name: &str) -> Option<&KernelType> {
        self.0.iter().find(|kind| kind.name() == name)
    }

    /// Returns the number of types that Linux does not have.
    pub fn others(&self) -> usize {
        self.0.iter().filter(|kind| kind.linux().is_none()).count()
    }

    /// Returns true if the kernel has this type.
    pub fn has(&self, kind: Migratetype) -> bool {
        self.0.contains(&KernelType::Linux(kind))
    }
}

impl Deref for KernelTypes {
    type Target = [KernelType];

    fn deref(&self) -> &[KernelType] {
        &self.0
    }
}

impl<'a> IntoIterator for &'a KernelTypes {
    type Item = &'a KernelType;
    type IntoIter = std::slice::Iter<'a, KernelType>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl FromIterator<Migratetype> for KernelTypes {
    fn from_iter<I: IntoIterator<Item = Migratetype>>(types: I) -> Self {
        Self(types.into_iter().map(KernelType::Linux).collect())
    }
}

/// A type as it is serialized.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Written<'t> {
    Code(u8),
    Name(std::borrow::Cow<'t, str>),
}

impl Serialize for KernelTypes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.0.iter().map(|kind| match kind {
            KernelType::Linux(kind) => Written::Code(*kind as u8),
            KernelType::Other { name, .. } => Written::Name(name.as_ref().into()),
        }))
    }
}

impl<'de> Deserialize<'de> for KernelTypes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut types = Self::default();
        for written in Vec::<Written<'_>>::deserialize(deserializer)? {
            let name = match &written {
                Written::Code(code) => Migratetype::new(*code).map(Migratetype::name).ok_or_else(|| {
                    serde::de::Error::custom(format!("migratetype {code} in pagetypeinfo is unknown"))
                })?,
                Written::Name(name) => name.as_ref(),
            };
            types.add(name).ok_or_else(|| {
                serde::de::Error::custom(format!(
                    "{name:?} in pagetypeinfo is no migratetype, or one too many"
                ))
            })?;
        }
        Ok(types)
    }
}

/// A value for each migratetype of a kernel, by [`KernelType::index`]. There are [`MIGRATETYPES`] values, and one for
/// each unknown type.
///
/// It dereferences to the slice of its values.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ByType<T>(Vec<T>);

impl<T: Clone> ByType<T> {
    /// Returns `value` for each type of `types`.
    pub fn new(types: &KernelTypes, value: T) -> Self {
        Self(vec![value; MIGRATETYPES + types.others()])
    }
}

impl<T> From<[T; MIGRATETYPES]> for ByType<T> {
    fn from(of_linux: [T; MIGRATETYPES]) -> Self {
        Self(of_linux.into())
    }
}

impl<T: Clone + Default> Default for ByType<T> {
    fn default() -> Self {
        Self(vec![T::default(); MIGRATETYPES])
    }
}

impl<T> Deref for ByType<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.0
    }
}

impl<T> DerefMut for ByType<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<'a, T> IntoIterator for &'a ByType<T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_types_keep_their_names_and_places() {
        let names = ["Unmovable", "Movable", "Rsvd", "CMA", "Pinned"];
        let types = KernelTypes::from_names(names).unwrap();
        assert_eq!(types.iter().map(KernelType::name).collect::<Vec<_>>(), names);
        assert_eq!(types.iter().map(KernelType::index).collect::<Vec<_>>(), [0, 1, 6, 4, 7]);
        assert!(types.has(Migratetype::Cma) && !types.has(Migratetype::Isolate));
        assert_eq!(ByType::new(&types, 0).len(), 8);
        let text = serde_json::to_string(&types).unwrap();
        assert_eq!(text, r#"[0,1,"Rsvd",4,"Pinned"]"#);
        assert_eq!(serde_json::from_str::<KernelTypes>(&text).unwrap(), types);
    }

    #[test]
    fn invalid_type_names_are_refused() {
        assert_eq!(KernelTypes::from_names(["Movable", "Movable"]), Err("Movable"));
        assert_eq!(KernelTypes::from_names(["Mov\u{1b}[2J"]), Err("Mov\u{1b}[2J"));
        let many: Vec<_> = (0..17).map(|n| format!("T{n}")).collect();
        assert_eq!(KernelTypes::from_names(many.iter().map(String::as_str)), Err("T16"));
        for (wrong, why) in
            [("[6]", "migratetype 6"), ("[0,0]", "\"Unmovable\""), (r#"["a b"]"#, "no migratetype")]
        {
            let error = serde_json::from_str::<KernelTypes>(wrong).unwrap_err().to_string();
            assert!(error.contains(why), "{error}");
        }
    }
}
