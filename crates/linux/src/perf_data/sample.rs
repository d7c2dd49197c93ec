//! Where a record's time, CPU, identifier and raw data are.

use super::bytes::Bytes;

const IP: u64 = 1 << 0;
const TID: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDR: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const ID: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM_ID: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const IDENTIFIER: u64 = 1 << 16;

/// What `read_format` adds to a count.
const READ_ENABLED: u64 = 1 << 0;
const READ_RUNNING: u64 = 1 << 1;
const READ_ID: u64 = 1 << 2;
const READ_GROUP: u64 = 1 << 3;
const READ_LOST: u64 = 1 << 4;

/// The parts of records of one event, by its attribute.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct SampleLayout {
    pub(super) sample_type: u64,
    pub(super) read_format: u64,
    /// True if records besides samples end with the parts that say when and where.
    pub(super) sample_id_all: bool,
}

/// When and where a record was written, as far as it says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Place {
    pub(super) time_ns: Option<u64>,
    pub(super) cpu: Option<u32>,
    pub(super) id: Option<u64>,
}

impl SampleLayout {
    /// Returns the first part that an event of the page allocator needs and does not have.
    pub(super) fn lacks(&self) -> Option<&'static str> {
        let parts = [(TIME, "time"), (CPU, "CPU"), (RAW, "raw data")];
        parts.into_iter().find(|(bit, _)| !self.has(*bit)).map(|(_, part)| part)
    }

    /// Returns true if every record has its event's identifier at a place that all events share.
    pub(super) fn identifies(&self) -> bool {
        self.has(IDENTIFIER) && self.sample_id_all
    }

    fn has(&self, bit: u64) -> bool {
        self.sample_type & bit != 0
    }

    /// Returns a sample's place and raw data. Without raw data they are empty.
    ///
    /// Returns `None` if the sample is shorter than its parts.
    pub(super) fn sample<'a>(&self, body: &'a [u8]) -> Option<(Place, &'a [u8])> {
        let mut bytes = Bytes(body);
        let mut place = Place::default();
        let skip = |bytes: &mut Bytes<'_>, bit| if self.has(bit) { bytes.skip_u64s(1) } else { Some(()) };
        if self.has(IDENTIFIER) {
            place.id = Some(bytes.u64()?);
        }
        skip(&mut bytes, IP)?;
        skip(&mut bytes, TID)?;
        if self.has(TIME) {
            place.time_ns = Some(bytes.u64()?);
        }
        skip(&mut bytes, ADDR)?;
        if self.has(ID) {
            place.id = Some(bytes.u64()?);
        }
        skip(&mut bytes, STREAM_ID)?;
        if self.has(CPU) {
            place.cpu = Some(bytes.u32()?);
            bytes.u32()?;
        }
        skip(&mut bytes, PERIOD)?;
        if self.has(READ) {
            self.skip_counts(&mut bytes)?;
        }
        if self.has(CALLCHAIN) {
            let frames = bytes.u64()?;
            bytes.skip_u64s(frames)?;
        }
        let raw = if self.has(RAW) {
            let size = usize::try_from(bytes.u32()?).ok()?;
            bytes.take(size)?
        } else {
            &[]
        };
        Some((place, raw))
    }

    /// Skips the counts that `PERF_SAMPLE_READ` adds.
    fn skip_counts(&self, bytes: &mut Bytes<'_>) -> Option<()> {
        let ones = |bits: u64| u64::from((self.read_format & bits).count_ones());
        let times = ones(READ_ENABLED | READ_RUNNING);
        let each = 1 + ones(READ_ID | READ_LOST);
        if self.read_format & READ_GROUP == 0 {
            return bytes.skip_u64s(times + each);
        }
        let counts = bytes.u64()?;
        bytes.skip_u64s(times.checked_add(counts.checked_mul(each)?)?)
    }

    /// Returns the place at the end of a record that is no sample.
    ///
    /// Returns `None` if the record is shorter than that.
    pub(super) fn trailer(&self, body: &[u8]) -> Option<Place> {
        let mut place = Place::default();
        if !self.sample_id_all {
            return Some(place);
        }
        let parts = self.sample_type & (TID | TIME | ID | STREAM_ID | CPU | IDENTIFIER);
        let length = 8 * parts.count_ones() as usize;
        let mut bytes = Bytes(body.get(body.len().checked_sub(length)?..)?);
        for bit in [TID, TIME, ID, STREAM_ID, CPU, IDENTIFIER] {
            if !self.has(bit) {
                continue;
            }
            let number = bytes.u64()?;
            match bit {
                TIME => place.time_ns = Some(number),
                // The CPU is the first half of the eight bytes.
                CPU => place.cpu = Bytes(&number.to_ne_bytes()).u32(),
                ID | IDENTIFIER => place.id = Some(number),
                _ => {}
            }
        }
        Some(place)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    #[test]
    fn every_part_before_the_raw_data_is_passed() {
        let all =
            IP | TID | TIME | ADDR | READ | CALLCHAIN | ID | CPU | PERIOD | STREAM_ID | RAW | IDENTIFIER;
        let layout = |read_format| SampleLayout { sample_type: all, read_format, sample_id_all: true };
        let head = [77, 1, 2, 1000, 3, 77, 4, 5, 6];
        let single = [8, 9];
        let group = [2, 10, 11, 12, 13, 14, 15, 16, 17, 18];
        let chain = [2, 19, 20];
        for (read_format, counts) in [
            (READ_ID, &single[..]),
            (READ_GROUP | READ_ENABLED | READ_RUNNING | READ_ID | READ_LOST, &group[..9]),
            (READ_GROUP | READ_ID | READ_LOST, &[1, 2, 3, 4]),
        ] {
            let mut body = words(&[&head[..], counts, &chain[..]].concat());
            body.extend(3_u32.to_ne_bytes());
            body.extend(b"rawrest");
            let (place, raw) = layout(read_format).sample(&body).unwrap();
            assert_eq!(place, Place { time_ns: Some(1000), cpu: Some(5), id: Some(77) });
            assert_eq!(raw, b"raw");
            for length in 0..body.len() - 4 {
                assert_eq!(layout(read_format).sample(&body[..length]), None, "{length}");
            }
        }
        assert_eq!(layout(0).lacks(), None);
        assert_eq!(SampleLayout { sample_type: all & !CPU, ..layout(0) }.lacks(), Some("CPU"));
    }

    #[test]
    fn other_records_end_with_their_place() {
        let layout = |sample_id_all| SampleLayout {
            sample_type: IP | TID | TIME | CPU | RAW | IDENTIFIER,
            read_format: 0,
            sample_id_all,
        };
        let cpu = u64::from_ne_bytes([3, 0, 0, 0, 0, 0, 0, 0]);
        let body = words(&[42, 7, 1000, cpu, 77]);
        let place = Place { time_ns: Some(1000), cpu: Some(3_u32.to_le()), id: Some(77) };
        assert_eq!(layout(true).trailer(&body), Some(place));
        assert_eq!(layout(true).trailer(&body[..24]), None);
        assert_eq!(layout(false).trailer(&body), Some(Place::default()));
        assert!(layout(true).identifies() && !layout(false).identifies());
    }
}
