//! Compares a transcript with the engine.

use std::io::Read;
use std::mem::MaybeUninit;

use freehold::{Memory, Switches, required_bytes};

use super::divergence::Divergence;
use crate::engine::{Image, Player, Watched, Witness};
use crate::script::{Op, Script, Step};
use crate::transcript::{Transcript, TranscriptError, Word};

/// The result of comparing a transcript with the engine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// The kernel and the engine wrote the same words.
    Same {
        /// The number of operations that were compared.
        operations: u64,
        /// The number of words that were compared.
        words: u64,
    },
    /// The kernel and the engine wrote different words.
    Differs(Box<Divergence>),
}

/// The options of a comparison.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct CheckOptions {
    /// Switches that replace those of the kernel's own era.
    pub switches: Option<Switches>,
    /// True if the requests go through an `Exclusive` and not through the locks of the CPUs' lists.
    pub owned: bool,
    /// The number of operations between two checks of the engine's invariants; `None` for no checks.
    pub check_every: Option<usize>,
}

/// Plays a script on the engine, from the start state of the kernel, and compares the engine's words with the kernel's.
///
/// # Errors
/// [`TranscriptError`] if the transcript cannot be used. A difference is not an error.
pub fn check(
    script: &Script,
    transcript: &mut Transcript<impl Read>,
    options: CheckOptions,
) -> Result<Verdict, TranscriptError> {
    let switches = match options.switches {
        Some(switches) => switches,
        None => transcript.era()?.switches(),
    };
    let image = Image::read(transcript)?;
    let zones = [image.zone_config()?];
    let config = image.config(&zones, switches)?;
    let mut metadata = vec![MaybeUninit::uninit(); required_bytes::<Watched>(&config)];
    let witness = Witness::default();
    let memory = Memory::<Watched>::with_tracepoints(&config, &mut metadata, &witness)
        .map_err(|error| TranscriptError::BadStart(error.to_string()))?;
    image.restore(&memory)?;
    memory.check().map_err(|broken| TranscriptError::BadStart(broken.to_string()))?;
    if let Some(number) = script.steps.iter().position(|step| u16::from(step.cpu) >= memory.cpus()) {
        let why = format!("operation {number} is for a CPU that the kernel did not have");
        return Err(TranscriptError::BadStart(why));
    }
    let mut player = Player::new(&memory, &witness, image.numbers.clone(), options.owned);
    if let Some(difference) = compare_state(&player, &image, 0) {
        return Ok(Verdict::Differs(Box::new(difference)));
    }
    let mut kernel = Vec::new();
    let mut before = None;
    for (operation, &step) in script.steps.iter().enumerate() {
        let text = read_operation(transcript, step, &mut kernel, &mut player)?;
        let engine = player.play(step);
        let same = engine == kernel.as_slice();
        if !same || text.as_deref() != player.text().map(str::as_bytes) {
            let engine = player.words().to_vec();
            let texts = text.map(|text| {
                (String::from_utf8_lossy(&text).into_owned(), player.text().unwrap_or_default().to_owned())
            });
            let after = match script.steps.get(operation + 1) {
                Some(&next) if next.op == Op::Dump => {
                    let mut words = Vec::new();
                    read_operation(transcript, next, &mut words, &mut player)?;
                    Some((words, player.play(next).to_vec()))
                }
                _ => None,
            };
            let step = Some(step);
            let divergence = Divergence { operation, step, kernel, engine, texts, before, after };
            return Ok(Verdict::Differs(Box::new(divergence)));
        }
        before = (step.op == Op::Dump).then(|| kernel.clone());
        if options.check_every.is_some_and(|every| operation % every == every - 1) {
            let broken = memory.check().err();
            broken.map_or(Ok(()), |broken| Err(TranscriptError::BrokenEngine(broken.to_string())))?;
        }
    }
    let end = Image::read(transcript)?;
    if let Some(difference) = compare_state(&player, &end, script.steps.len()) {
        return Ok(Verdict::Differs(Box::new(difference)));
    }
    match transcript.word()? {
        Word::End { operations } if operations == script.steps.len() as u64 => {
            let words = transcript.position();
            transcript.at_end()?;
            Ok(Verdict::Same { operations, words })
        }
        other => Err(transcript.nonsense(other)),
    }
}

/// Reads the kernel's words of one operation. Returns the text if the operation has one.
fn read_operation(
    transcript: &mut Transcript<impl Read>,
    step: Step,
    words: &mut Vec<Word>,
    player: &mut Player<'_, '_>,
) -> Result<Option<Vec<u8>>, TranscriptError> {
    words.clear();
    let mut text = None;
    let mut recorded = matches!(step.op, Op::Set { .. }).then(|| player.recorded().clone());
    loop {
        let word = transcript.word()?;
        match word {
            Word::Dump { .. } => {
                transcript.unread(word);
                Image::read(transcript)?.state_words(words);
                continue;
            }
            Word::Text { bytes } => text = Some(transcript.text(bytes)?),
            Word::End { .. } => return Err(transcript.nonsense(word)),
            _ => {}
        }
        if let Some(recorded) = &mut recorded {
            recorded.take(word);
        }
        words.push(word);
        if matches!(word, Word::PerCpuNow { .. }) {
            if let Some(recorded) = recorded {
                player.record(recorded);
            }
            return Ok(text);
        }
    }
}

fn compare_state(player: &Player<'_, '_>, image: &Image, operation: usize) -> Option<Divergence> {
    let mut kernel = Vec::new();
    image.state_words(&mut kernel);
    let mut engine = Vec::new();
    player.writer().state(&mut |word| engine.push(word));
    if kernel == engine {
        return None;
    }
    Some(Divergence { operation, step: None, kernel, engine, texts: None, before: None, after: None })
}
