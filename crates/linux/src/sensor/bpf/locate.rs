//! Finds the kernel's zones and compares them with `/proc/zoneinfo`.

use freehold::{Migratetype, Order};
use freehold_trace::{KernelTypes, ZoneSnapshot};

use super::Programs;
use super::messages::{Map, Message, TYPES, word};
use crate::error::BpfError;

/// The most searches of the task list: a task that ends during a search may mislead it.
const SEARCHES: u32 = 4;

/// The most zones of a node in any configuration of the kernel.
const ZONES_OF_A_NODE: u64 = 8;

/// The running kernel's sizes and numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Layout {
    /// Bytes of a `struct page`.
    pub(super) page_bytes: u64,
    /// The largest order.
    pub(super) largest: Order,
    /// The kernel's migratetypes, ordered by the kernel's number of each.
    pub(super) types: KernelTypes,
}

impl Layout {
    /// Reads the layout from the kernel's type information.
    pub(super) fn ask(programs: &Programs) -> Result<Self, BpfError> {
        let mut message = Message::new(&[], 3 + Migratetype::ALL.len());
        programs.run("describe", &mut message)?;
        let (orders, lists) = (message.word(0), message.word(1));
        let largest =
            orders.checked_sub(1).and_then(|largest| u8::try_from(largest).ok()).and_then(Order::new);
        let Some(largest) = largest else {
            let detail = format!("{orders} orders where 1 to {} are known", freehold::MAX_ORDERS);
            return Err(BpfError::Layout { detail });
        };
        let number = |kind: Migratetype| message.word(3 + kind.index()).checked_sub(1);
        let mut types: Vec<_> =
            Migratetype::ALL.into_iter().filter_map(|kind| Some((number(kind)? as usize, kind))).collect();
        types.sort_unstable_by_key(|(number, _)| *number);
        let in_order = types.iter().enumerate().all(|(at, (number, _))| at == *number);
        if !in_order || types.len() as u64 != lists || types.len() > TYPES {
            let known: Vec<_> = types.iter().map(|(number, kind)| format!("{number} {kind}")).collect();
            let detail = format!("{lists} lists an order, of which {} are known", known.join(", "));
            return Err(BpfError::Layout { detail });
        }
        let types = types.into_iter().map(|(_, kind)| kind).collect();
        Ok(Self { page_bytes: message.word(2), largest, types })
    }
}

/// A zone's numbers in the kernel.
struct KernelZone {
    address: u64,
    node: u64,
    start_pfn: u64,
    spanned: u64,
    present: u64,
    name: String,
}

/// Returns the address of each of `zones`.
pub(super) fn locate(programs: &Programs, zones: &[ZoneSnapshot]) -> Result<Vec<u64>, BpfError> {
    let mut searches = 0;
    loop {
        searches += 1;
        let (found, nodes) = kernel_zones(programs)?;
        let addresses: Result<Vec<_>, _> = zones.iter().map(|zone| address(&found, zone, nodes)).collect();
        if addresses.is_ok() || searches == SEARCHES {
            return addresses;
        }
    }
}

/// Returns the zones of all nodes, and the number of nodes found.
fn kernel_zones(programs: &Programs) -> Result<(Vec<KernelZone>, u64), BpfError> {
    let mut found = Message::new(&[], 1);
    programs.run("find_nodes", &mut found)?;
    let mut zones = Vec::new();
    for key in 0..found.word(0) {
        let node = word(&programs.get(Map::Nodes, key as u32)?, 0);
        for index in 0..ZONES_OF_A_NODE {
            let mut message = Message::new(&[node, index], 9);
            if programs.run("describe_zone", &mut message)? != 0 || message.word(2) == 0 {
                break;
            }
            zones.push(KernelZone {
                address: message.word(2),
                node: message.word(3),
                start_pfn: message.word(4),
                spanned: message.word(5),
                present: message.word(6),
                name: message.text(7),
            });
        }
    }
    Ok((zones, found.word(0)))
}

/// Returns the address of a zone of `/proc/zoneinfo`.
fn address(found: &[KernelZone], zone: &ZoneSnapshot, nodes: u64) -> Result<u64, BpfError> {
    let ours = found.iter().find(|z| z.node == u64::from(zone.node) && z.name == zone.name);
    let Some(ours) = ours else {
        return Err(BpfError::NoZone { node: zone.node, name: zone.name.clone(), nodes });
    };
    let numbers = [
        ("start_pfn", ours.start_pfn, zone.start_pfn),
        ("spanned", ours.spanned, zone.spanned),
        ("present", ours.present, zone.present),
    ];
    match numbers.into_iter().find(|(_, found, expected)| found != expected) {
        None => Ok(ours.address),
        Some((what, found, expected)) => {
            Err(BpfError::WrongZone { node: zone.node, name: zone.name.clone(), what, found, expected })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zone_is_believed_only_if_its_numbers_agree() {
        let zone = ZoneSnapshot {
            name: "Normal".to_owned(),
            start_pfn: 4096,
            spanned: 100,
            present: 90,
            ..ZoneSnapshot::default()
        };
        let kernel = |node, present| KernelZone {
            address: 7,
            node,
            start_pfn: 4096,
            spanned: 100,
            present,
            name: "Normal".to_owned(),
        };
        assert_eq!(address(&[kernel(1, 90), kernel(0, 90)], &zone, 2), Ok(7));
        let missing = address(&[kernel(1, 90)], &zone, 1).unwrap_err();
        assert_eq!(missing, BpfError::NoZone { node: 0, name: "Normal".to_owned(), nodes: 1 });
        let wrong = address(&[kernel(0, 91)], &zone, 1).unwrap_err();
        assert!(matches!(wrong, BpfError::WrongZone { what: "present", found: 91, expected: 90, .. }));
    }
}
