//! Allocates gigantic pages, frees them, and compares forecast and result.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::Ordering;
use std::time::Instant;

use anyhow::{Context, anyhow};
use freehold_monitor::verdict::{BlockRequest, SizeText, Verdict};
use serde::Serialize;

use crate::commands::give_back::OldNumber;
use crate::commands::repair_lock::{ended_by_signal, must_be_root};
use crate::exit::{Cause, Failure};

/// A forecast of gigantic pages, and the result.
#[derive(Serialize)]
pub(super) struct PoolTrial {
    /// Requested pages.
    pub(super) request: u64,
    /// Ranges that were free before, of those requested.
    pub(super) before: u64,
    /// The lower bound of the forecast, of those requested.
    pub(super) predicted: u64,
    /// The upper bound of the forecast, of those requested.
    pub(super) at_most: u64,
    /// Pages that the kernel allocated.
    pub(super) real: u64,
    /// The error of the forecast in percent of the real number; above 0 if too much was promised.
    pub(super) error_percent: f64,
    /// How long the kernel took, in milliseconds.
    pub(super) asking_ms: u64,
    /// True if a signal ended it early.
    pub(super) interrupted: bool,
}

impl PoolTrial {
    /// Returns the exit code: that of the result, if nothing interrupted it.
    pub(super) fn exit_code(&self, verdict: &Verdict) -> u8 {
        match (self.interrupted, self.real >= verdict.request.blocks) {
            (true, _) => 3,
            (false, true) => verdict.exit_code.min(1),
            (false, false) => 2,
        }
    }

    /// Returns the sentence about the result.
    pub(super) fn words(&self) -> String {
        let early = if self.interrupted { ", before a signal ended it" } else { "" };
        format!(
            "Verified: {} pages requested, {} free before; predicted {} to {}, observed {} after {} ms{early} \
             ({:+.1} %); the pool has its old size again.",
            self.request,
            self.before,
            self.predicted,
            self.at_most,
            self.real,
            self.asking_ms,
            self.error_percent
        )
    }
}

/// A pool of gigantic pages of the requested size.
pub(super) struct Pool {
    folder: PathBuf,
}

impl Pool {
    /// Finds the pool, of the requested node if there is one.
    ///
    /// # Errors
    /// If the kernel has no such pool, or this process may not change it.
    pub(super) fn find(root: &Path, request: &BlockRequest) -> Result<Self, Failure> {
        let pools = match request.node {
            None => root.join("sys/kernel/mm/hugepages"),
            Some(node) => root.join(format!("sys/devices/system/node/node{node}/hugepages")),
        };
        let name = |kib: u64| format!("hugepages-{kib}kB");
        let folder = pools.join(name(request.block_bytes / 1024));
        if !folder.join("nr_hugepages").exists() {
            let sizes: BTreeSet<u64> = fs::read_dir(&pools)
                .into_iter()
                .flatten()
                .flatten()
                .filter_map(|entry| {
                    entry.file_name().to_str()?.strip_prefix("hugepages-")?.strip_suffix("kB")?.parse().ok()
                })
                .collect();
            let sizes: Vec<_> = sizes.into_iter().map(|kib| SizeText(kib << 10).to_string()).collect();
            let has = if sizes.is_empty() {
                "it has no hugetlb pages".to_owned()
            } else {
                format!("it has pools of {}", sizes.join(", "))
            };
            let error = anyhow!(
                "this kernel has no pool of pages of {}, which alone makes contiguous ranges on request; {has}. Leave \
                 out --verify",
                SizeText(request.block_bytes)
            );
            return Err(Failure::new(Cause::Machine, error));
        }
        if request.allowed_nodes.is_some() {
            let error = anyhow!(
                "a pool takes pages of one node or of all. Give --node instead, or leave out --verify"
            );
            return Err(Failure::new(Cause::Usage, error));
        }
        if request.zone.is_some() {
            let error = anyhow!("a pool takes pages from any zone. Leave out --zone, or --verify");
            return Err(Failure::new(Cause::Usage, error));
        }
        must_be_root("ask for gigantic pages", "leave out --verify")?;
        Ok(Self { folder })
    }

    /// Asks for the pages, and gives them back.
    ///
    /// # Errors
    /// If there is no forecast, or the kernel refuses to change the pool.
    pub(super) fn ask(&self, verdict: &Verdict) -> Result<PoolTrial, Failure> {
        let Some(ranges) = &verdict.ranges else {
            let why = verdict.missing.join("; ");
            return Err(Failure::new(Cause::Machine, anyhow!("there is no forecast to verify: {why}")));
        };
        let wanted = verdict.request.blocks.min(ranges.counts.values().sum::<u64>() + 1);
        let number = self.folder.join("nr_hugepages");
        let machine = |error: anyhow::Error| Failure::new(Cause::Machine, error);
        let before = self.persistent().map_err(machine)?;
        let ended = ended_by_signal();
        let started = Instant::now();
        let (written, observed) = {
            let old = OldNumber::keep(&number, before);
            let written = fs::write(&number, (before + wanted).to_string());
            let observed = self.persistent().map_err(machine)?.saturating_sub(before);
            old.restore()
                .with_context(|| format!("{} cannot be set back to {before}", number.display()))
                .map_err(machine)?;
            (written, observed)
        };
        let asking_ms = started.elapsed().as_millis() as u64;
        written
            .with_context(|| format!("{} refuses more pages; leave out --verify", number.display()))
            .map_err(machine)?;
        let predicted = verdict.supply.after_reclaim_and_compaction.unwrap_or(0).min(wanted);
        Ok(PoolTrial {
            request: wanted,
            before: verdict.supply.now.min(wanted),
            predicted,
            at_most: ranges.at_most().min(wanted),
            real: observed,
            error_percent: (predicted as f64 - observed as f64) * 100.0 / (observed.max(1) as f64),
            asking_ms,
            interrupted: ended.load(Ordering::SeqCst),
        })
    }

    /// Returns the pages of the pool that stay in it when they are freed.
    fn persistent(&self) -> anyhow::Result<u64> {
        let read = |name: &str| -> anyhow::Result<u64> {
            let path = self.folder.join(name);
            let text =
                fs::read_to_string(&path).with_context(|| format!("{} cannot be read", path.display()))?;
            text.trim().parse().with_context(|| format!("{} is no number", path.display()))
        };
        Ok(read("nr_hugepages")?.saturating_sub(read("surplus_hugepages")?))
    }
}
