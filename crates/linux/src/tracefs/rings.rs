//! The ring buffers of all CPUs, read as raw pages.

use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::instance::Instance;
use super::ring_page::{Missed, PageLayout, RingPage};
use crate::error::{Error, ParseError};

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
pub(crate) struct Rings {
    cpus: Vec<CpuRing>,
    layout: PageLayout,
    page: Vec<u8>,
}

#[derive(Debug)]
struct CpuRing {
    cpu: u32,
    pipe: File,
}

/// What a ring buffer has at one time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Part<'p> {
    /// So many events were overwritten; `None` if the kernel does not know how many.
    Missed(Option<u64>),
    /// The bytes of an event.
    Event(&'p [u8]),
}

impl Rings {
    /// Opens the ring buffers of all CPUs. `remedy` says what to do if their format is unknown.
    pub(crate) fn open(instance: &Instance, remedy: &'static str) -> Result<Self, Error> {
        let header = "events/header_page";
        let layout = PageLayout::parse(&instance.read(header)?).map_err(|e| {
            ParseError::new(0, e.to_string(), "another format").in_file(&instance.file(header), remedy)
        })?;
        let mut cpus = Vec::new();
        for cpu in instance.cpus()? {
            let path = instance.file(&format!("per_cpu/cpu{cpu}/trace_pipe_raw"));
            let pipe = OpenOptions::new()
                .read(true)
                .custom_flags(libc::O_NONBLOCK)
                .open(&path)
                .map_err(|e| Error::io("read", &path, e))?;
            cpus.push(CpuRing { cpu, pipe });
        }
        let page = vec![0; layout.page_bytes()];
        Ok(Self { cpus, layout, page })
    }

    /// Passes on the contents of the ring buffers with CPU and time, until they are empty or `until_ns` is reached. Those of one
    /// CPU come in the order of time.
    pub(crate) fn drain(
        &mut self,
        until_ns: u64,
        each: &mut dyn FnMut(u32, u64, Part<'_>),
    ) -> Result<(), Error> {
        for at in 0..self.cpus.len() {
            while self.read_page(at, each)?.is_some_and(|newest| newest < until_ns) {}
        }
        Ok(())
    }

    /// Reads one page of a CPU's buffer. Returns its newest time, or `None` if the buffer is empty.
    fn read_page(
        &mut self,
        at: usize,
        each: &mut dyn FnMut(u32, u64, Part<'_>),
    ) -> Result<Option<u64>, Error> {
        let CpuRing { cpu, pipe } = &mut self.cpus[at];
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
        match page.missed {
            Missed::None => {}
            Missed::Some => each(cpu, newest, Part::Missed(None)),
            Missed::Count(count) => each(cpu, newest, Part::Missed(Some(count))),
        }
        for record in page.records() {
            let record = record.map_err(|e| Error::RingBuffer { cpu, detail: e.to_string() })?;
            newest = record.time_ns;
            each(cpu, newest, Part::Event(record.event));
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
