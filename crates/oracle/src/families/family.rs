//! The families of scripts.

use super::building::{Builder, Zone};
use super::{churn, fuzz, orders, percpu, pressure, ranges, settings, tidying, types};
use crate::kernel::KernelVersion;
use crate::script::Script;

/// A kind of script.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Family {
    /// Each order alone.
    SingleOrders,
    /// All orders and types, with random lifetimes, at several fill levels.
    MixedOrders,
    /// Requests until memory is exhausted, with various access to the reserves.
    Exhaustion,
    /// Scattered free pages, then requests of higher orders.
    Fragmentation,
    /// Pages of one type, and requests of other types that need its pageblocks.
    TypePressure,
    /// Pageblocks that are about half free, so that claims are refused or not, in zones with unaligned ends.
    Refusals,
    /// Per-CPU lists at their limits.
    PerCpu,
    /// The highatomic reserve.
    HighAtomic,
    /// The watermark boost.
    Boost,
    /// Isolated pageblocks, contiguous ranges and CMA.
    Ranges,
    /// Tunables, texts and bulk allocation.
    Settings,
    /// The other families in zones from 64 MiB to 4 GiB with unaligned ends.
    OddZones,
    /// Two CPUs that take turns in a fixed order.
    TwoCpus,
    /// All calls in random order.
    Fuzz,
    /// Pageblocks with pages of several kinds, and passes of tidying.
    Tidying,
}

/// The recipe for a family's scripts.
struct Recipe {
    family: Family,
    name: &'static str,
    /// Memory sizes to choose from, in MiB; if empty, any size with an unaligned end.
    memory_mib: &'static [u64],
    calls: Calls,
    write: fn(&mut Builder),
}

/// The kind of calls that a family makes: marks or ranges, which exclude each other in one script.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    /// Marks only.
    Marks,
    /// Marks in some scripts, ranges in others, some with CMA.
    Either,
    /// Like [`Self::Either`], with ranges in most scripts.
    Ranges,
}

const fn recipe(
    family: Family,
    name: &'static str,
    memory_mib: &'static [u64],
    calls: Calls,
    write: fn(&mut Builder),
) -> Recipe {
    Recipe { family, name, memory_mib, calls, write }
}

/// The recipes, in the order of [`Family`]'s variants.
const RECIPES: [Recipe; 15] = [
    recipe(Family::SingleOrders, "single-orders", &[128, 256], Calls::Marks, orders::single),
    recipe(Family::MixedOrders, "mixed-orders", &[128, 256], Calls::Marks, churn::mixed_orders),
    recipe(Family::Exhaustion, "exhaustion", &[64, 96, 128], Calls::Marks, pressure::exhaustion),
    recipe(Family::Fragmentation, "fragmentation", &[96, 256], Calls::Marks, orders::fragmentation),
    recipe(Family::TypePressure, "type-pressure", &[64, 96, 160], Calls::Marks, types::type_pressure),
    recipe(Family::Refusals, "refusals", &[], Calls::Marks, types::refusals),
    recipe(Family::PerCpu, "per-cpu", &[96, 256, 1024], Calls::Marks, percpu::percpu),
    recipe(Family::HighAtomic, "high-atomic", &[64, 128, 512], Calls::Marks, pressure::high_atomic),
    recipe(Family::Boost, "boost", &[64, 96, 128], Calls::Marks, pressure::boost),
    recipe(Family::Ranges, "ranges", &[128, 256], Calls::Ranges, ranges::ranges),
    recipe(Family::Settings, "settings", &[96, 256], Calls::Marks, settings::settings),
    recipe(Family::OddZones, "odd-zones", &[], Calls::Either, fuzz::odd_zones),
    recipe(Family::TwoCpus, "two-cpus", &[128, 256], Calls::Marks, percpu::two_cpus),
    recipe(Family::Fuzz, "fuzz", &[128, 256, 512], Calls::Either, fuzz::fuzz),
    recipe(Family::Tidying, "tidying", &[64, 96, 128, 256], Calls::Marks, tidying::tidying),
];

impl Family {
    /// Every family.
    pub const ALL: [Self; RECIPES.len()] = {
        let mut all = [Self::SingleOrders; RECIPES.len()];
        let mut at = 0;
        while at < all.len() {
            all[at] = RECIPES[at].family;
            at += 1;
        }
        all
    };

    /// Returns the name on a command line.
    pub fn name(self) -> &'static str {
        self.recipe().name
    }

    /// Returns the family with this name, or `None` for any other name.
    pub fn from_name(name: &str) -> Option<Self> {
        RECIPES.iter().find(|recipe| recipe.name == name).map(|recipe| recipe.family)
    }

    /// Returns the families for a kernel: those that need no more CPUs than it can have, and tidying only if it can
    /// tidy.
    pub fn of(kernel: KernelVersion) -> impl Iterator<Item = Self> {
        let tidies = kernel.series() == Some("tidying");
        let can =
            move |family: &Self| family.cpus() <= kernel.most_cpus() && (*family != Self::Tidying || tidies);
        Self::ALL.into_iter().filter(can)
    }

    /// Returns the number of CPUs that the family's scripts use.
    pub fn cpus(self) -> u16 {
        if matches!(self, Self::TwoCpus | Self::Tidying) { 2 } else { 1 }
    }

    /// Writes a script of about `steps` steps, with a digest after every few hundred or thousand steps.
    pub fn script(self, seed: u64, steps: usize, kernel: KernelVersion) -> Script {
        self.script_with_digests(seed, steps, kernel, (steps / 100).clamp(300, 2000))
    }

    /// Writes a script of about `steps` steps, with a digest after every `digest_every` steps.
    pub fn script_with_digests(
        self,
        seed: u64,
        steps: usize,
        kernel: KernelVersion,
        digest_every: usize,
    ) -> Script {
        let recipe = self.recipe();
        // A separate generator chooses the zone, so that the zone does not correlate with the steps.
        let mut rng = fastrand::Rng::with_seed(!seed);
        let memory_kib = match recipe.memory_mib {
            [] => odd_size(&mut rng),
            sizes => sizes[rng.usize(..sizes.len())] << 10,
        };
        let zone = Zone::new(memory_kib, self.cpus());
        let mut builder = Builder::new(zone, kernel, seed, steps, digest_every);
        builder.may_mark = match recipe.calls {
            Calls::Marks => true,
            Calls::Either => rng.bool(),
            Calls::Ranges => rng.u8(..4) == 0,
        };
        if recipe.calls != Calls::Marks && !recipe.memory_mib.is_empty() {
            builder.cma_blocks = [0, 0, 4, 16][rng.usize(..4)];
        }
        while !builder.done() {
            (recipe.write)(&mut builder);
        }
        builder.finish()
    }

    fn recipe(self) -> &'static Recipe {
        &RECIPES[self as usize]
    }
}

/// Returns a random size from 64 MiB to 4 GiB. Small sizes are more frequent.
fn odd_size(rng: &mut fastrand::Rng) -> u64 {
    let most = 64 << (10 + rng.u32(1..=6));
    rng.u64((64 << 10) / 4..=most / 4) * 4
}
