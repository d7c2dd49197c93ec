//! A cache server such as memcached: a large arena, packets, connections.

use std::collections::VecDeque;

use super::host::{Ask, Host, Task};
use super::processes::Process;
use super::slabs::{Cache, Object, SlabCaches};
use super::users::Handle;

/// Packets that wait in the ring of each CPU's queue.
const RING: usize = 256;

/// Connections that are open at a time.
const CONNECTIONS: usize = 512;

/// A cache server such as memcached.
#[derive(Debug)]
pub(super) struct CacheServer {
    process: Process,
    rings: Vec<VecDeque<Handle>>,
    connections: VecDeque<Vec<Object>>,
}

impl CacheServer {
    /// Starts a server and fills its arena of `arena` pages.
    pub(super) fn start(host: &mut Host<'_, '_>, slabs: &mut SlabCaches, arena: u64) -> Self {
        let task = Task { cpu: 0, pid: 500 };
        let mut process = Process::start(host, slabs, task);
        process.fault(host, arena);
        let rings = vec![VecDeque::new(); host.memory.cpus().into()];
        Self { process, rings, connections: VecDeque::new() }
    }

    /// Serves some requests: receives and frees packets, looks values up, replaces a connection.
    pub(super) fn serve(&mut self, host: &mut Host<'_, '_>, slabs: &mut SlabCaches) {
        let cpu = host.any_cpu();
        let task = Task { cpu, pid: 500 };
        let ring = &mut self.rings[usize::from(cpu)];
        for _ in 0..host.random.below(8) {
            ring.extend(host.alloc(task, Ask::PACKET));
        }
        while ring.len() > RING {
            ring.pop_front().into_iter().for_each(|packet| host.free(task, packet));
        }
        self.process.use_again(host, 16);
        if host.random.one_in(4) {
            let buffers = host.random.between(1, 16);
            let caches =
                (0..buffers).map(|_| Cache::Buffer).chain([Cache::OpenFile, Cache::Inode, Cache::Dentry]);
            let client = caches.filter_map(|cache| slabs.take(host, task, cache)).collect();
            self.connections.push_back(client);
        }
        while self.connections.len() > CONNECTIONS {
            let chosen = host.random.below(CONNECTIONS as u64) as usize;
            for object in self.connections.swap_remove_front(chosen).into_iter().flatten() {
                slabs.give_back(host, task, object);
            }
        }
    }
}
