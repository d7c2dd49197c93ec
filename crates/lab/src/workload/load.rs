//! What keeps a machine busy.

use super::host::Host;

/// What keeps a machine busy.
pub(super) trait Load {
    /// Brings the machine into the state at which the trace starts.
    fn settle(&mut self, host: &mut Host<'_, '_>);

    /// Does a little work, at least one event.
    fn step(&mut self, host: &mut Host<'_, '_>);

    /// Returns true if the workload is done. Further steps repeat its work.
    fn is_done(&self) -> bool;
}
