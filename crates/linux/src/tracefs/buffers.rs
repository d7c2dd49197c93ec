//! The ring buffers of all CPUs, read as raw pages.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use freehold::Order;
use freehold_trace::{Event, EventKind};

use super::decode::{Decoded, Decoder};
use super::instance::Instance;
use super::merge::Merger;
use super::ring_page::{Missed, PageLayout, RingPage};
use crate::error::Error;

/// The lost events of one CPU, according to its `stats`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct CpuLoss {
    /// The CPU.
    pub(crate) cpu: u32,
    /// Events that were overwritten or never written.
    pub(crate) events: u64,
}

/// The open ring buffers of an instance.
#[derive(Debug)]
pub(crate) struct Buffers {
    cpus: Vec<CpuBuffer>,
    layout: PageLayout,
    page: Vec<u8>,
    /// Tasks that belong to the recorder.
    own_pids: Vec<i32>,
    tally: Tally,
}

/// Counts of what was read so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Tally {
    /// Decoded events.
    pub(crate) events: u64,
    /// Decoded events that the recorder caused.
    pub(crate) own_events: u64,
    /// Lost events, according to the pages.
    pub(crate) lost: u64,
    /// Known events that could not be decoded.
    pub(crate) unreadable: u64,
    /// The largest order of a failed request.
    pub(crate) failed: Option<Order>,
}

#[derive(Debug)]
struct CpuBuffer {
    cpu: u32,
    pipe: File,
}

impl Buffers {
    /// Opens the ring buffers of all CPUs.
    pub(crate) fn open(instance: &Instance, layout: PageLayout) -> Result<Self, Error> {
        let mut cpus = Vec::new();
        for cpu in instance.cpus()? {
            let path = instance.file(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            let pipe = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&path)
                .map_err(|e| Error::io("read", &path, e))?;
            cpus.push(CpuBuffer { cpu, pipe });
        }
        let page = vec![0; layout.page_bytes()];
        Ok(Self { cpus, layout, page, own_pids: Vec::new(), tally: Tally::default() })
    }

    /// Counts events of the task `pid` as the recorder's own.
    pub(crate) fn add_own(&mut self, pid: i32) {
        self.own_pids.push(pid);
    }

    /// Returns the counts so far.
    pub(crate) fn tally(&self) -> Tally {
        self.tally
    }

    /// Passes the contents of the ring buffers to the merger, until they are empty or `until_ns` is
    /// reached.
    pub(crate) fn drain(
        &mut self,
        decoder: &Decoder,
        until_ns: u64,
        merger: &mut Merger,
    ) -> Result<(), Error> {
        for at in 0..self.cpus.len() {
            while self.read_page(at, decoder, merger)?.is_some_and(|newest| newest < until_ns) {}
        }
        Ok(())
    }

    /// Reads one page of a CPU's buffer. Returns its newest time, or `None` if the buffer is empty.
    fn read_page(&mut self, at: usize, decoder: &Decoder, merger: &mut Merger) -> Result<Option<u64>, Error> {
        let CpuBuffer { cpu, pipe } = &mut self.cpus[at];
        let cpu = *cpu;
        let filled = match pipe.read(&mut self.page) {
            Ok(0) => return Ok(None),
            Ok(filled) => filled,
            Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(None),
            Err(e) if e.kind() == ErrorKind::Interrupted => return Ok(Some(0)),
            Err(e) => return Err(Error::io("read", Path::new(&format!("the ring buffer of CPU {cpu}")), e)),
        };
        let page = RingPage::parse(&self.layout, &self.page[..filled])
            .map_err(|e| Error::RingBuffer { cpu, detail: e.to_string() })?;
        let mut newest = page.time_ns;
        let tally = &mut self.tally;
        let lost =
            |time_ns, count| Event { time_ns, cpu: cpu as u16, pid: 0, kind: EventKind::Lost { count } };
        match page.missed {
            Missed::None => {}
            Missed::Some => merger.push(lost(newest, 0)),
            Missed::Count(count) => {
                tally.lost += count;
                merger.push(lost(newest, count));
            }
        }
        for record in page.records() {
            let record = record.map_err(|e| Error::RingBuffer { cpu, detail: e.to_string() })?;
            newest = record.time_ns;
            match decoder.decode(record.event) {
                Decoded::Event(raw) => {
                    tally.events += 1;
                    if let EventKind::Alloc { pfn: None, order, .. } = raw.kind {
                        tally.failed = tally.failed.max(Some(order));
                    }
                    tally.own_events += u64::from(self.own_pids.contains(&raw.pid));
                    merger.push(Event { time_ns: newest, cpu: cpu as u16, pid: raw.pid, kind: raw.kind });
                }
                Decoded::Foreign => {}
                Decoded::Unreadable => {
                    tally.unreadable += 1;
                    merger.push(lost(newest, 1));
                }
            }
        }
        Ok(Some(newest))
    }

    /// Returns the lost events of each CPU, according to the instance's `stats`.
    pub(crate) fn losses(&self, instance: &Instance) -> Result<Vec<CpuLoss>, Error> {
        self.cpus
            .iter()
            .map(|c| {
                let stats = instance.read(&format!("per_cpu/cpu{}/stats", c.cpu))?;
                Ok(CpuLoss { cpu: c.cpu, events: lost_events(&stats) })
            })
            .collect()
    }
}

/// Returns the sum of the lost events in a `stats` file.
fn lost_events(stats: &str) -> u64 {
    const LOSSES: [&str; 3] = ["overrun", "commit overrun", "dropped events"];
    stats
        .lines()
        .filter_map(|row| row.split_once(':'))
        .filter(|(name, _)| LOSSES.contains(&name.trim()))
        .filter_map(|(_, n)| n.trim().parse::<u64>().ok())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_summed() {
        let stats =
            "entries: 7\noverrun: 5\ncommit overrun: 1\nbytes: 9\ndropped events: 2\nread events: 4\n";
        assert_eq!(lost_events(stats), 8);
        assert_eq!(lost_events(""), 0);
    }
}
