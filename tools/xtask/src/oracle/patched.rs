//! The series of patches in a kernel of the oracle.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use freehold_oracle::KernelVersion;

use super::error::{OracleError, OracleResult};
use crate::series::build::workshop::Workshop;
use crate::series::patch::apply::{apply, outcome};

/// The series of a kernel, or none. The oracle applies only the posted patches of a series.
pub(super) struct Patched(Option<Workshop>);

impl Patched {
    /// Opens the series of a kernel in the checkout at `root`.
    pub(super) fn open(root: &Path, version: KernelVersion, source: Option<&Path>) -> OracleResult<Self> {
        let open = |series| Workshop::new(root, series, version.into(), source);
        Ok(Self(version.series().map(open).transpose()?))
    }

    /// Returns the name of the cache's folder for kernels with this series.
    pub(super) fn room(&self) -> String {
        self.0.as_ref().map_or("kernels".to_owned(), |shop| format!("kernels-{}", shop.series().name()))
    }

    /// Returns the source that a tree is copied from: `from`, or the unchanged source of the series.
    pub(super) fn source(&self, from: Option<&Path>) -> OracleResult<Option<PathBuf>> {
        match &self.0 {
            Some(shop) => Ok(Some(shop.original()?)),
            None => Ok(from.map(Path::to_owned)),
        }
    }

    /// Returns the files that the series changes or adds, with their final texts.
    pub(super) fn files(&self) -> OracleResult<BTreeMap<String, String>> {
        let Some(shop) = &self.0 else { return Ok(BTreeMap::new()) };
        Ok(outcome(&apply(shop.series().posted(), &shop.original()?, shop.version())?))
    }

    /// Passes all inputs that determine the patched kernel to `add`.
    pub(super) fn inputs(&self, add: &mut impl FnMut(&str)) {
        let Some(shop) = &self.0 else { return };
        shop.series().posted().iter().for_each(|patch| patch.inputs(shop.version(), add));
    }

    /// Removes a tree that was made with other patches, because their changes would remain.
    pub(super) fn forget_others(&self, tree: &Path) -> OracleResult<()> {
        let mut hash = crc32fast::Hasher::new();
        self.inputs(&mut |text| hash.update(text.as_bytes()));
        let wanted = format!("{:08x}\n", hash.finalize());
        let stamp = tree.with_extension("series");
        if self.0.is_none() || fs::read_to_string(&stamp).is_ok_and(|have| have == wanted) {
            return Ok(());
        }
        if tree.is_dir() {
            fs::remove_dir_all(tree).map_err(OracleError::file(tree))?;
        }
        fs::write(&stamp, wanted).map_err(OracleError::file(&stamp))
    }
}
