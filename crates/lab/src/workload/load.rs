//! What keeps a machine busy.

use super::host::Host;

/// What keeps a machine busy.
pub(super) trait Load {
    /// Brings the machine into the state in which the trace starts.
    fn settle(&mut self, host: &mut Host<'_, '_>);

    /// Does a little, at least one event of it.
    fn step(&mut self, host: &mut Host<'_, '_>);

    /// Whether all is done that belongs to the workload; further steps go on with the same.
    fn is_done(&self) -> bool;
}
