//! The loaded BPF object: its programs, run one at a time, and its maps.

use libbpf_rs::{MapCore, MapFlags, MapHandle, Object, ProgramInput};

use super::loading::{open_object, refusal};
use super::messages::{Map, Message, Room};
use crate::error::BpfError;

/// The compiled programs.
static OBJECT: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/free_areas.bpf.o"));

/// The map that only the program itself uses, which copies whole states.
const PROBE: &str = "probe";

/// The loaded object.
#[derive(Debug)]
pub(super) struct Programs {
    object: Object,
    /// The maps in the order of [`Map::ALL`]; `None` for those that were not requested.
    maps: Vec<Option<MapHandle>>,
}

impl Programs {
    /// Loads the programs, with room for `zones` zones and `chunks` chunks of pageblocks, and, if requested, the
    /// program that copies whole states, with room for these.
    pub(super) fn load(zones: u32, chunks: u32, room: Option<Room>) -> Result<Self, BpfError> {
        let mut open = open_object(OBJECT)?;
        for mut map in open.maps_mut() {
            if map.name() == PROBE {
                map.set_autocreate(room.is_some()).map_err(|e| refusal(&e))?;
            }
            let Some(known) = Map::ALL.into_iter().find(|known| map.name() == known.name()) else { continue };
            let entries = match known {
                Map::Zones | Map::States => zones,
                Map::Pageblocks => chunks,
                Map::Cpus => zones * room.map_or(0, |room| room.cpus),
                Map::Listed => room.map_or(0, |room| room.chunks),
                Map::Nodes | Map::Frames => 0,
            };
            if entries > 0 {
                map.set_max_entries(entries).map_err(|e| refusal(&e))?;
            }
            if known.is_of_states() {
                map.set_autocreate(room.is_some()).map_err(|e| refusal(&e))?;
            }
        }
        for mut program in open.progs_mut() {
            if program.name() == "take" {
                program.set_autoload(room.is_some());
            }
        }
        let object = open.load().map_err(|e| refusal(&e))?;
        let wanted = |map: Map| room.is_some() || !map.is_of_states();
        let handles = Map::ALL.map(|map| wanted(map).then(|| handle(&object, map)).transpose());
        let maps = handles.into_iter().collect::<Result<_, _>>()?;
        Ok(Self { object, maps })
    }

    /// Runs a program on `message`, in which it may write its answer. Returns the program's return
    /// value.
    pub(super) fn run(&self, program: &'static str, message: &mut Message) -> Result<u32, BpfError> {
        let failed = |detail: String| BpfError::Run { program, detail };
        let found = self.object.progs_mut().find(|p| p.name() == program);
        let found = found.ok_or_else(|| failed("it is not in the object".to_owned()))?;
        let input = ProgramInput { context_in: Some(message.bytes()), ..ProgramInput::default() };
        let output = found.test_run(input).map_err(|e| failed(e.to_string()))?;
        Ok(output.return_value)
    }

    /// Returns the entry of a map at `key`.
    pub(super) fn get(&self, map: Map, key: u32) -> Result<Vec<u8>, BpfError> {
        let failed = |detail: String| BpfError::Run { program: "lookup", detail };
        match self.map(map)?.lookup(&key.to_ne_bytes(), MapFlags::ANY) {
            Ok(Some(bytes)) => Ok(bytes),
            Ok(None) => Err(failed(format!("there is no entry {key}"))),
            Err(error) => Err(failed(error.to_string())),
        }
    }

    /// Writes the entry of a map at `key`.
    pub(super) fn put(&self, map: Map, key: u32, bytes: &[u8]) -> Result<(), BpfError> {
        let put = self.map(map)?.update(&key.to_ne_bytes(), bytes, MapFlags::ANY);
        put.map_err(|e| BpfError::Run { program: "update", detail: e.to_string() })
    }

    fn map(&self, map: Map) -> Result<&MapHandle, BpfError> {
        let missing =
            || BpfError::Run { program: map.name(), detail: "the map was not requested".to_owned() };
        self.maps.get(map as usize).and_then(Option::as_ref).ok_or_else(missing)
    }
}

impl Map {
    const ALL: [Self; 7] =
        [Self::Zones, Self::Nodes, Self::Pageblocks, Self::Frames, Self::Listed, Self::Cpus, Self::States];

    /// Returns true if only the program that copies whole states uses the map.
    const fn is_of_states(self) -> bool {
        matches!(self, Self::Listed | Self::Cpus | Self::States)
    }

    /// Returns the map's name in the object.
    const fn name(self) -> &'static str {
        match self {
            Self::Zones => "zones",
            Self::Nodes => "nodes",
            Self::Pageblocks => "pageblocks",
            Self::Frames => "frames",
            Self::Listed => "listed",
            Self::Cpus => "cpus",
            Self::States => "states",
        }
    }
}

fn handle(object: &Object, wanted: Map) -> Result<MapHandle, BpfError> {
    let map = object.maps().find(|map| map.name() == wanted.name());
    let map = map.ok_or_else(|| BpfError::Refused { detail: format!("no map `{}`", wanted.name()) })?;
    MapHandle::try_from(&map).map_err(|e| refusal(&e))
}
