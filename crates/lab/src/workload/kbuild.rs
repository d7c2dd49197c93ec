//! A parallel build: compilers that start, read, allocate, write and exit.

use super::files::{FileId, Files};
use super::host::{Ask, Host, Task};
use super::processes::Process;
use super::slabs::{Cache, SlabCaches};

/// Compilations of a build.
const COMPILATIONS: u64 = 400;

/// Compilations at the same time for each CPU, the usual argument of `make -j`.
const JOBS_PER_CPU: u16 = 2;

/// Headers of the tree.
const HEADERS: u64 = 3000;

/// Pages of the compiler's program and libraries.
const COMPILER_PAGES: u64 = 8192;

/// Pages that a compiler faults on before another task runs.
const BURST: u64 = 64;

/// A source tree that is built again and again, and the current build.
#[derive(Debug)]
pub(super) struct Kbuild {
    sources: Vec<FileId>,
    headers: Vec<FileId>,
    compiler: FileId,
    objects: Vec<FileId>,
    jobs: Vec<Option<Job>>,
    started: u64,
    finished: u64,
    next_pid: i32,
    /// The factor of sizes of processes and files: GiB of memory.
    scale: u64,
}

#[derive(Debug)]
struct Job {
    process: Process,
    source: FileId,
    headers_left: u64,
    faults_left: u64,
}

impl Kbuild {
    /// Adds the files of a source tree, none of which is in memory yet. Sizes of processes and files grow with
    /// memory.
    pub(super) fn new(host: &mut Host<'_, '_>, files: &mut Files) -> Self {
        let scale = (host.pages() >> 18).max(1);
        let mut sized =
            |host: &mut Host<'_, '_>, least, most| files.add(host.random.long_tailed(least, most) * scale);
        let sources = (0..COMPILATIONS).map(|_| sized(host, 8, 128)).collect();
        let headers = (0..HEADERS).map(|_| sized(host, 2, 32)).collect();
        let compiler = files.add(COMPILER_PAGES);
        let jobs = (0..host.memory.cpus() * JOBS_PER_CPU).map(|_| None).collect();
        let (objects, next_pid) = (Vec::new(), 2000);
        Self { sources, headers, compiler, objects, jobs, started: 0, finished: 0, next_pid, scale }
    }

    /// Returns the finished compilations of the current build.
    pub(super) fn finished(&self) -> u64 {
        self.finished
    }

    /// Runs one of the jobs for a little while. Returns true if that ended the build.
    pub(super) fn step(
        &mut self,
        host: &mut Host<'_, '_>,
        slabs: &mut SlabCaches,
        files: &mut Files,
    ) -> bool {
        let slot = host.random.below(self.jobs.len() as u64) as usize;
        match self.jobs[slot].take() {
            None if self.started < COMPILATIONS => {
                self.jobs[slot] = Some(self.start_job(host, slabs, slot));
            }
            None => {}
            Some(mut job) if job.faults_left > 0 || job.headers_left > 0 => {
                self.go_on(host, slabs, files, &mut job);
                self.jobs[slot] = Some(job);
            }
            Some(job) => self.end_job(host, slabs, files, job),
        }
        let ends = self.finished == COMPILATIONS;
        if ends {
            self.link_and_clean(host, slabs, files);
        }
        ends
    }

    fn task(&mut self, slot: usize, cpus: u16) -> Task {
        self.next_pid = if self.next_pid > 4_000_000 { 2000 } else { self.next_pid + 1 };
        Task { cpu: slot as u16 % cpus, pid: self.next_pid }
    }

    /// Starts a job: make starts a shell, which starts a compiler and exits with it.
    fn start_job(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, slot: usize) -> Job {
        let shell = self.task(slot, host.memory.cpus());
        let mut shell = Process::start(host, slabs, shell);
        shell.fault(host, 120);
        let task = self.task(slot, host.memory.cpus());
        let process = Process::start(host, slabs, task);
        shell.exit(host, slabs);
        let source = self.sources[self.started as usize % self.sources.len()];
        self.started += 1;
        let headers_left = host.random.between(20, 120);
        let faults_left = host.random.long_tailed(1024 * self.scale, 16_384 * self.scale);
        Job { process, source, headers_left, faults_left }
    }

    fn go_on(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, files: &mut Files, job: &mut Job) {
        let task = job.process.task;
        let at = host.random.below(COMPILER_PAGES);
        files.access(host, slabs, task, (self.compiler, Ask::READAHEAD), at..at + 16);
        if job.headers_left > 0 {
            job.headers_left -= 1;
            let header = self.headers[host.random.skewed(HEADERS) as usize];
            let file = if job.headers_left == 0 { job.source } else { header };
            files.access(host, slabs, task, (file, Ask::READAHEAD), 0..files.pages(file));
            if job.headers_left.is_multiple_of(8) {
                job.process.take_object(host, slabs, Cache::Mapping);
            }
        }
        if job.faults_left > 0 {
            let faults = job.faults_left.min(BURST);
            job.faults_left -= faults;
            job.process.fault(host, faults);
            job.process.use_again(host, 8);
        }
    }

    fn end_job(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, files: &mut Files, job: Job) {
        let pages = host.random.long_tailed(8, 256) * self.scale;
        let object = files.add(pages);
        files.access(host, slabs, job.process.task, (object, Ask::WRITTEN), 0..pages);
        self.objects.push(object);
        job.process.exit(host, slabs);
        self.finished += 1;
    }

    /// Links the image, then removes all that was built.
    fn link_and_clean(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches, files: &mut Files) {
        let task = self.task(0, host.memory.cpus());
        let mut linker = Process::start(host, slabs, task);
        let mut pages = 0;
        for &object in &self.objects {
            let all = files.pages(object);
            files.access(host, slabs, task, (object, Ask::READAHEAD), 0..all);
            linker.fault(host, all / 2);
            pages += all;
        }
        let image = files.add(pages / 2);
        files.access(host, slabs, task, (image, Ask::WRITTEN), 0..pages / 2);
        linker.exit(host, slabs);
        for object in self.objects.drain(..).chain([image]) {
            files.remove(host, slabs, task, object);
        }
        (self.started, self.finished) = (0, 0);
    }
}
