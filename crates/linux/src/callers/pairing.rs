//! Gives each request the stack that the kernel wrote behind it.

use std::collections::HashMap;
use std::mem;

use super::decode::{Decoded, Decoder};
use super::event::{CallerBy, CallerEvent, CallerKind, CallerStack};
use crate::tracefs::Part;

/// The most events of a CPU that wait for their stacks: a task, a soft and a hard interrupt, and one more.
const MOST_WAITING: usize = 4;

/// Decoded events, and what is missing of them.
#[derive(Debug, Default)]
pub(super) struct Pairing {
    /// Events of each CPU whose stacks have not come yet. An interrupt's stack comes before that of the event that it interrupts.
    waiting: Vec<Vec<CallerEvent>>,
    ready: Vec<CallerEvent>,
    stacks: Vec<Vec<u64>>,
    known: HashMap<Vec<u64>, CallerStack>,
    own: Vec<i32>,
    /// Events that were overwritten, according to the pages, or could not be read.
    pub(super) lost: u64,
    /// Requests without a stack.
    pub(super) without_stack: u64,
}

impl Pairing {
    /// Leaves out the events of this task.
    pub(super) fn leave_out(&mut self, pid: i32) {
        self.own.push(pid);
    }

    /// Adds a part of a CPU's ring buffer.
    pub(super) fn add(&mut self, decoder: &Decoder, number: u32, time_ns: u64, part: Part<'_>) {
        let cpu = number as usize;
        if self.waiting.len() <= cpu {
            self.waiting.resize_with(cpu + 1, Vec::new);
        }
        let bytes = match part {
            Part::Event(bytes) => bytes,
            Part::Missed(count) => {
                self.lost += count.unwrap_or(1);
                self.give_up(cpu);
                return self.pass(CallerEvent {
                    time_ns,
                    by: CallerBy::Interrupt(number),
                    kind: CallerKind::Lost,
                });
            }
        };
        match decoder.decode(bytes) {
            Decoded::Event(pid, kind) => {
                let by = pid.map_or(CallerBy::Interrupt(number), CallerBy::Task);
                let event = CallerEvent { time_ns, by, kind };
                if !decoder.has_stacks() {
                    return self.pass(event);
                }
                self.waiting[cpu].push(event);
                if self.waiting[cpu].len() > MOST_WAITING {
                    let oldest = self.waiting[cpu].remove(0);
                    self.pass(oldest);
                }
            }
            Decoded::Stack(addresses) => {
                let Some(mut event) = self.waiting[cpu].pop() else { return };
                if let CallerKind::Request { stack, .. } = &mut event.kind
                    && !addresses.is_empty()
                {
                    *stack = Some(self.keep(addresses));
                }
                self.pass(event);
            }
            Decoded::Foreign => {}
            Decoded::Unreadable => self.lost += 1,
        }
    }

    /// Returns the tasks of the requests that wait to be passed on.
    pub(super) fn tasks(&self) -> impl Iterator<Item = i32> {
        self.ready.iter().filter_map(|event| match (event.by, event.kind) {
            (CallerBy::Task(pid), CallerKind::Request { .. }) => Some(pid),
            _ => None,
        })
    }

    /// Passes on the events before `cutoff_ns` in the order of time.
    pub(super) fn release(&mut self, cutoff_ns: u64, each: &mut dyn FnMut(&CallerEvent)) {
        self.ready.sort_by_key(|event| event.time_ns);
        let later = self.ready.partition_point(|event| event.time_ns < cutoff_ns);
        let later = self.ready.split_off(later);
        mem::replace(&mut self.ready, later).iter().for_each(each);
    }

    /// Passes on everything, also what still waits for its stack.
    pub(super) fn finish(&mut self, each: &mut dyn FnMut(&CallerEvent)) {
        for cpu in 0..self.waiting.len() {
            self.give_up(cpu);
        }
        self.release(u64::MAX, each);
    }

    /// Returns the addresses of a stack, innermost first.
    pub(super) fn stack(&self, stack: CallerStack) -> &[u64] {
        &self.stacks[stack.index()]
    }

    /// Stops waiting for the stacks of a CPU's events.
    fn give_up(&mut self, cpu: usize) {
        for event in mem::take(&mut self.waiting[cpu]) {
            self.pass(event);
        }
    }

    fn pass(&mut self, event: CallerEvent) {
        if matches!(event.by, CallerBy::Task(pid) if self.own.contains(&pid)) {
            return;
        }
        self.without_stack += u64::from(matches!(event.kind, CallerKind::Request { stack: None, .. }));
        self.ready.push(event);
    }

    fn keep(&mut self, addresses: Vec<u64>) -> CallerStack {
        let next = CallerStack(self.stacks.len() as u32);
        let stacks = &mut self.stacks;
        *self.known.entry(addresses).or_insert_with_key(|addresses| {
            stacks.push(addresses.clone());
            next
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::decode::tests::{decoder, request, stack_of};
    use super::*;

    fn events(parts: &[(u32, u64, Part<'_>)]) -> (Vec<CallerEvent>, Pairing) {
        let (decoder, mut pairing) = (decoder(), Pairing::default());
        pairing.leave_out(99);
        for &(cpu, time_ns, part) in parts {
            pairing.add(&decoder, cpu, time_ns, part);
        }
        let mut events = Vec::new();
        pairing.finish(&mut |event| events.push(*event));
        (events, pairing)
    }

    fn stack(pairing: &Pairing, event: &CallerEvent) -> Option<Vec<u64>> {
        let CallerKind::Request { stack, .. } = event.kind else { return None };
        Some(pairing.stack(stack?).to_vec())
    }

    #[test]
    fn an_interrupts_stack_is_its_own() {
        let (task, interrupt) = (request(7, 0, 3, 1), request(7, 0x10, 4, 2));
        let (outer, inner) = (stack_of(7, &[1, 2]), stack_of(7, &[3]));
        let own = request(99, 0, 3, 3);
        let (events, pairing) = events(&[
            (0, 10, Part::Event(&task)),
            (0, 11, Part::Event(&interrupt)),
            (0, 12, Part::Event(&inner)),
            (0, 13, Part::Event(&outer)),
            (1, 5, Part::Event(&own)),
            (1, 6, Part::Event(&outer)),
        ]);
        let callers: Vec<_> = events.iter().map(|e| (e.time_ns, e.by)).collect();
        assert_eq!(callers, [(10, CallerBy::Task(7)), (11, CallerBy::Interrupt(0))]);
        assert_eq!(
            events.iter().map(|e| stack(&pairing, e)).collect::<Vec<_>>(),
            [Some(vec![1, 2]), Some(vec![3])]
        );
        assert_eq!((pairing.lost, pairing.without_stack), (0, 0));
    }

    #[test]
    fn requests_without_stacks_are_kept_and_counted() {
        let (early, late) = (request(7, 0, 3, 1), request(8, 0, 3, 1));
        let stack_of_late = stack_of(8, &[4]);
        let (events, pairing) = events(&[
            (1, 20, Part::Event(&late)),
            (1, 21, Part::Event(&stack_of_late)),
            (0, 10, Part::Event(&early)),
            (0, 30, Part::Missed(Some(5))),
            (0, 31, Part::Event(&stack_of_late)),
        ]);
        assert_eq!(
            events.iter().map(|e| e.time_ns).collect::<Vec<_>>(),
            [10, 20, 30],
            "in the order of time"
        );
        assert_eq!(events[2].kind, CallerKind::Lost);
        assert_eq!(stack(&pairing, &events[0]), None);
        assert_eq!((pairing.lost, pairing.without_stack), (5, 1));
    }

    #[test]
    fn equal_stacks_have_one_number() {
        let (one, same) = (request(7, 0, 3, 1), stack_of(7, &[4, 5]));
        let twice = [(0, 1, Part::Event(&one)), (0, 2, Part::Event(&same))];
        let (events, pairing) = events(&[twice[0], twice[1], twice[0], twice[1]]);
        assert_eq!((events.len(), events[0].kind == events[1].kind, pairing.stacks.len()), (2, true, 1));
    }
}
