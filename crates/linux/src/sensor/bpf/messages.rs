//! The arguments and answers of the BPF programs: 64-bit numbers in a row, as in `crates/linux/bpf`.

/// Room for orders in a zone's entry.
pub(super) const ORDERS: usize = freehold::MAX_ORDERS;

/// Room for types in a zone's entry.
pub(super) const TYPES: usize = 8;

/// Pageblocks of one entry of the map `pageblocks`.
pub(super) const CHUNK: usize = 65536;

/// The most frames in one question about slabs.
pub(super) const BATCH: usize = 8192;

/// The room for copies of whole states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Room {
    /// CPUs that may come up.
    pub(super) cpus: u32,
    /// Entries of the map of blocks.
    pub(super) chunks: u32,
}

/// A map that the programs and this process share.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Map {
    /// A [`ZoneEntry`] for each zone.
    Zones,
    /// The address of each node.
    Nodes,
    /// A byte for each pageblock, [`CHUNK`] an entry: the types on whose lists the pageblock has free
    /// blocks.
    Pageblocks,
    /// The frames whose slab caches are requested.
    Frames,
    /// Blocks in the order of their lists, [`LISTED`] an entry.
    Listed,
    /// The numbers of each CPU's lists, by zone, then by CPU.
    Cpus,
    /// The numbers of each zone.
    States,
}

/// Blocks of one entry of the map `listed`.
pub(super) const LISTED: usize = 8192;

/// Bytes of a number.
const WORD: usize = 8;

/// A program's argument, which also holds its answer.
#[derive(Clone, Debug)]
pub(super) struct Message(Vec<u8>);

impl Message {
    /// Returns a message of `words` numbers: `given`, then zeros.
    pub(super) fn new(given: &[u64], words: usize) -> Self {
        let mut bytes: Vec<u8> = given.iter().flat_map(|word| word.to_ne_bytes()).collect();
        bytes.resize(words * WORD, 0);
        Self(bytes)
    }

    /// Returns the bytes that the kernel reads and writes.
    pub(super) fn bytes(&mut self) -> &mut [u8] {
        &mut self.0
    }

    /// Returns the number at `index`.
    pub(super) fn word(&self, index: usize) -> u64 {
        word(&self.0, index)
    }

    /// Returns the text that starts at number `index` and ends at a zero byte.
    pub(super) fn text(&self, index: usize) -> String {
        let bytes = self.0.get(index * WORD..).unwrap_or_default();
        let end = bytes.iter().position(|b| *b == 0).unwrap_or(bytes.len());
        String::from_utf8_lossy(&bytes[..end]).into_owned()
    }
}

/// Returns the number at `index`, or 0 beyond the end.
pub(super) fn word(bytes: &[u8], index: usize) -> u64 {
    let bytes = bytes.get(index * WORD..(index + 1) * WORD).unwrap_or_default();
    bytes.try_into().map_or(0, u64::from_ne_bytes)
}

/// One zone's entry of the map `zones`.
#[derive(Clone, Debug)]
pub(super) struct ZoneEntry(Vec<u8>);

impl ZoneEntry {
    /// The index of each part, in numbers.
    const NR_FREE: usize = 3;
    const BLOCKS: usize = Self::NR_FREE + ORDERS;
    const CAPPED: usize = Self::BLOCKS + ORDERS * TYPES;
    const UNSETTLED: usize = Self::CAPPED + ORDERS;
    const LOW_PAGE: usize = Self::UNSETTLED + 1 + 2 * ORDERS;
    const PAGEBLOCKS: usize = Self::LOW_PAGE + 2;
    const WORDS: usize = Self::PAGEBLOCKS + TYPES;

    /// Returns the entry of a zone that was not read yet.
    pub(super) fn fresh(address: u64, start_pfn: u64, end_pfn: u64) -> Vec<u8> {
        Message::new(&[address, start_pfn, end_pfn], Self::WORDS).0
    }

    pub(super) fn new(bytes: Vec<u8>) -> Self {
        Self(bytes)
    }

    pub(super) fn nr_free(&self, order: usize) -> u64 {
        word(&self.0, Self::NR_FREE + order)
    }

    /// Returns the free blocks of `order` on the list of the kernel's type `number`.
    pub(super) fn blocks(&self, order: usize, number: usize) -> u64 {
        word(&self.0, Self::BLOCKS + order * TYPES + number)
    }

    /// Returns true if that number is only a lower bound.
    pub(super) fn is_capped(&self, order: usize, number: usize) -> bool {
        word(&self.0, Self::CAPPED + order) >> number & 1 != 0
    }

    /// Returns how many times an order's lists changed under every walk, over all readings.
    pub(super) fn unsettled(&self) -> u64 {
        word(&self.0, Self::UNSETTLED)
    }

    /// Returns the pageblocks of the kernel's type `number`.
    pub(super) fn pageblocks(&self, number: usize) -> u64 {
        word(&self.0, Self::PAGEBLOCKS + number)
    }

    /// Returns the lowest and the highest known address of a free block's `struct page`.
    pub(super) fn pages(&self) -> Option<(u64, u64)> {
        let (low, high) = (word(&self.0, Self::LOW_PAGE), word(&self.0, Self::LOW_PAGE + 1));
        (low != 0).then_some((low, high))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_where_they_were_put() {
        let mut message = Message::new(&[7, u64::from_ne_bytes(*b"Normal\0x")], 4);
        message.bytes()[24] = 1;
        assert_eq!((message.word(0), message.text(1), message.word(2)), (7, "Normal".to_owned(), 0));
        assert_ne!(message.word(3), 0);
        assert_eq!(message.word(4), 0, "beyond the end");
        let entry = ZoneEntry::new(ZoneEntry::fresh(1, 2, 3));
        assert_eq!(
            (entry.nr_free(18), entry.blocks(18, 7), entry.unsettled(), entry.pages()),
            (0, 0, 0, None)
        );
    }
}
