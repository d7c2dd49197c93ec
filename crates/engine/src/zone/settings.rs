//! Settings of a zone and of its per-CPU lists that may change at any time.

use super::state::Zone;
use super::watermark_levels::Watermarks;
use crate::percpu::PerCpuSettings;
use crate::table::sync::Ordering;
use crate::types::Platform;

impl<P: Platform> Zone<'_, P> {
    /// Returns the settings of a CPU's lists; `None` for an absent CPU.
    pub fn percpu_settings(&self, cpu: u16) -> Option<PerCpuSettings> {
        self.lock_lists(cpu).map(|lists| lists.settings())
    }

    /// Changes the settings of a CPU's lists. For an absent CPU nothing happens.
    ///
    /// A batch of 0 counts as 1, and a batch above 2^20 as 2^20. Bounds above 2^30 count as 2^30. The lower bound may
    /// exceed the upper one.
    /// Linux counterpart: `pageset_update`.
    pub fn set_percpu_settings(&self, cpu: u16, settings: PerCpuSettings) {
        if let Some(mut lists) = self.lock_lists(cpu) {
            lists.set_settings(settings, &self.switches);
        }
    }

    /// Returns the three watermarks, without the boost.
    pub fn watermarks(&self) -> Watermarks {
        self.shared.watermarks.load()
    }

    /// Changes the three watermarks and sets the boost to 0.
    ///
    /// Linux counterpart: `__setup_per_zone_wmarks`.
    pub fn set_watermarks(&self, watermarks: Watermarks) {
        let _guard = self.lock();
        self.shared.watermarks.store(watermarks);
        self.shared.boost.store(0, Ordering::Relaxed);
    }

    /// Changes the amount by which one fallback raises the watermarks, in ten-thousandths of the high watermark.
    ///
    /// Linux counterpart: `vm.watermark_boost_factor`.
    pub fn set_watermark_boost_factor(&self, factor: u32) {
        self.shared.boost_factor.store(factor.into(), Ordering::Relaxed);
    }
}
