//! Invalid transcripts are refused.

use std::io::Cursor;

use freehold_oracle::{
    CheckOptions, Golden, ORACLE_VERSION, Script, Transcript, TranscriptError, Verdict, Word, check,
};

/// Returns the script of a golden file, and its transcript as bytes.
fn kept() -> (Script, Vec<u8>) {
    let path = Golden::folder().join("6.12/single-orders.zst");
    let packed = std::fs::read(path).expect("kept");
    let bytes = zstd::decode_all(packed.as_slice()).expect("packed whole");
    let (script, taken) = Script::from_bytes(&bytes).expect("a script");
    (script, bytes[taken..].to_vec())
}

fn verdict(script: &Script, transcript: Vec<u8>) -> Result<Verdict, TranscriptError> {
    check(script, &mut Transcript::new(Cursor::new(transcript))?, CheckOptions::default())
}

#[test]
fn truncated_transcript_is_refused() {
    let (script, bytes) = kept();
    for length in [72, bytes.len() / 2, bytes.len() - 8, bytes.len() - 3] {
        let error = verdict(&script, bytes[..length].to_vec()).expect_err("the end is missing");
        assert!(matches!(error, TranscriptError::CutShort { .. }), "{length}: {error}");
        assert!(error.to_string().contains("cut short"), "{error}");
    }
}

#[test]
fn transcript_of_another_oracle_version_is_refused() {
    let (script, mut bytes) = kept();
    bytes[12..16].copy_from_slice(&(ORACLE_VERSION + 1).to_le_bytes());
    let error = verdict(&script, bytes).expect_err("another oracle");
    assert!(matches!(error, TranscriptError::OtherVersion { .. }), "{error}");
    assert!(error.to_string().contains("make it anew"), "{error}");
}

#[test]
fn foreign_file_and_unknown_kernel_are_refused() {
    let (script, mut bytes) = kept();
    let error = verdict(&script, b"no transcript".to_vec()).expect_err("not one");
    assert!(matches!(error, TranscriptError::NotATranscript), "{error}");
    bytes[16..20].copy_from_slice(b"5.4.");
    let error = verdict(&script, bytes).expect_err("too old");
    assert!(error.to_string().contains("5.4."), "{error}");
}

#[test]
fn transcript_with_foreign_use_is_void() {
    let (script, mut bytes) = kept();
    let foreign = Word::Foreign { freed: false, pfn: freehold::Pfn(7) };
    let at = (bytes.len() / 2).next_multiple_of(8);
    bytes.splice(at..at, foreign.encode().to_le_bytes());
    let error = verdict(&script, bytes).expect_err("somebody else allocated");
    assert!(matches!(error, TranscriptError::Void { .. }), "{error}");
}

#[test]
fn transcript_with_invalid_pageblocks_is_refused() {
    let (script, mut bytes) = kept();
    let is_block_type = |word: &[u8]| {
        let word = u64::from_le_bytes(word.try_into().expect("8 bytes"));
        matches!(Word::decode(word), Some(Word::BlockType { .. }))
    };
    let at = bytes[64..].chunks_exact(8).position(is_block_type).expect("a dump") * 8 + 64;
    let backwards = Word::BlockType { migratetype: freehold::Migratetype::Movable, block: 0 };
    for _ in 0..1000 {
        bytes.splice(at..at, backwards.encode().to_le_bytes());
    }
    let error = verdict(&script, bytes).expect_err("no zone is like that");
    assert!(error.to_string().contains("out of order"), "{error}");
}

#[test]
fn every_changed_word_is_detected() {
    let (script, bytes) = kept();
    let mut random = fastrand::Rng::with_seed(7);
    for _ in 0..300 {
        let mut changed = bytes.clone();
        let at = random.usize(64..bytes.len());
        let bit = 1 << random.u8(..8);
        changed[at] ^= bit;
        let result = verdict(&script, changed);
        let kept_word = u64::from_le_bytes(bytes[at & !7..(at & !7) + 8].try_into().expect("8 bytes"));
        assert!(
            !matches!(result, Ok(Verdict::Same { .. })) || is_ignored(kept_word, at & 7),
            "bit {bit:#x} of byte {at}, in {:?}",
            Word::decode(kept_word)
        );
    }
}

/// Returns true if a byte of a word has bits that the engine ignores.
fn is_ignored(word: u64, byte: usize) -> bool {
    match Word::decode(word) {
        // Frames that the allocator never managed are not compared, nor is the reason of a dump.
        Some(
            Word::Reserved { .. }
            | Word::Length { .. }
            | Word::Movable { .. }
            | Word::Dump { .. }
            | Word::DumpEnd
            | Word::Refused
            | Word::Value { .. },
        ) => true,
        // The upper bits of the two small fields are unused.
        Some(Word::Taken { .. } | Word::Drained { .. } | Word::Free { .. } | Word::BlockType { .. }) => {
            byte == 6 || byte == 5
        }
        Some(Word::Answer { .. } | Word::CpuValue { .. }) => byte == 5 || byte == 6,
        _ => false,
    }
}
