//! The figures of the hygiene series, as its author gave them.
//!
//! Means over 50 consecutive defconfig builds on a machine that is not named, Linux 6.8-rc5.
//! Source: "mm: `page_alloc`: freelist migratetype hygiene" v3, linux-mm, March 2024.

/// One row of the series' table.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct SeedRow {
    /// Its name in the series.
    pub name: &'static str,
    /// The figures without the series and with it.
    pub figures: [f64; 2],
    /// The change that the series gives, in percent.
    pub change: f64,
}

const fn row(name: &'static str, vanilla: f64, patched: f64, change: f64) -> SeedRow {
    SeedRow { name, figures: [vanilla, patched], change }
}

/// The series' table.
pub const TABLE: [SeedRow; 32] = [
    row("Hugealloc Time mean", 165_843.93, 113_025.88, -31.85),
    row("Hugealloc Time stddev", 158_957.35, 114_716.07, -27.83),
    row("Kbuild Real time", 310.24, 300.73, -3.06),
    row("Kbuild User time", 1_271.13, 1_259.42, -0.92),
    row("Kbuild System time", 582.02, 559.79, -3.81),
    row("THP fault alloc", 30_585.14, 40_853.62, 33.57),
    row("THP fault fallback", 36_626.46, 26_357.62, -28.04),
    row("THP fault fail rate %", 54.49, 39.22, -27.53),
    row("Pagealloc fallback", 1_328.00, 1.00, -99.85),
    row("Pagealloc type mismatch", 181_009.50, 0.00, -100.00),
    row("Direct compact stall", 434.56, 257.66, -40.61),
    row("Direct compact fail", 421.70, 249.94, -40.63),
    row("Direct compact success", 12.86, 7.72, -37.09),
    row("Direct compact success rate %", 2.86, 2.82, -0.96),
    row("Compact daemon scanned migrate", 3_370_059.62, 3_612_054.76, 7.18),
    row("Compact daemon scanned free", 7_718_439.20, 5_386_385.02, -30.21),
    row("Compact direct scanned migrate", 309_248.62, 176_721.04, -42.85),
    row("Compact direct scanned free", 433_582.84, 315_727.66, -27.18),
    row("Compact migrate scanned daemon %", 91.20, 94.48, 3.56),
    row("Compact free scanned daemon %", 94.58, 94.42, -0.16),
    row("Compact total migrate scanned", 3_679_308.24, 3_788_775.80, 2.98),
    row("Compact total free scanned", 8_152_022.04, 5_702_112.68, -30.05),
    row("Alloc stall", 872.04, 5_156.12, 490.71),
    row("Pages kswapd scanned", 510_645.86, 3_394.94, -99.33),
    row("Pages kswapd reclaimed", 134_811.62, 2_701.26, -98.00),
    row("Pages direct scanned", 99_546.06, 376_407.52, 278.12),
    row("Pages direct reclaimed", 62_123.40, 289_535.70, 366.06),
    row("Pages total scanned", 610_191.92, 379_802.46, -37.76),
    row("Pages scanned kswapd %", 76.36, 0.10, -98.58),
    row("Swap out", 12_057.54, 15_022.98, 24.59),
    row("Swap in", 209.16, 256.48, 22.52),
    row("File refaults", 17_701.64, 11_765.40, -33.53),
];

/// Steals in each build, without the series.
pub(super) const STEALS_VANILLA: [u64; 50] = [
    1504, 1557, 1391, 1080, 1057, 1156, 805, 736, 1747, 1699, 1269, 1858, 907, 727, 563, 3094, 10_211, 2621,
    5508, 1060, 538, 5773, 2199, 3781, 1387, 4977, 2865, 1814, 3739, 6857, 382, 407, 3784, 297, 298, 6636,
    4188, 242, 9960, 5816, 354, 287, 261, 140, 2065, 312, 331, 164, 465, 219,
];

/// Steals in each build, with the series.
pub(super) const STEALS_PATCHED: [u64; 50] = [
    227, 6, 13, 26, 40, 6, 46, 20, 2, 34, 13, 12, 4, 2, 2, 2, 3, 1, 2, 2, 3, 2, 0, 2, 1, 0, 1, 1, 1, 0, 0, 1,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0,
];

/// Type mismatches in each build, without the series.
pub(super) const MISMATCHES_VANILLA: [u64; 50] = [
    182_602, 135_794, 88_619, 95_973, 129_590, 129_298, 147_134, 230_854, 239_709, 137_670, 132_430, 65_712,
    57_901, 67_506, 63_565, 34_806, 42_962, 32_406, 38_668, 61_356, 57_800, 41_435, 83_456, 65_048, 28_955,
    47_597, 75_117, 55_564, 38_280, 52_404, 26_264, 37_538, 19_671, 30_936, 26_933, 16_962, 44_554, 46_352,
    24_995, 35_152, 12_823, 21_583, 18_129, 31_693, 28_745, 33_308, 31_114, 35_034, 12_111, 24_885,
];

/// Type mismatches in each build, with the series.
pub(super) const MISMATCHES_PATCHED: [u64; 50] = [
    268, 20, 19, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
];
