//! The commands of the page.

use freehold_trace::ReadOptions;
use serde::Deserialize;
use serde_json::json;

use crate::message::Reply;
use crate::replay::replay;
use crate::sandbox::sandbox;

/// A command of the page.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase")]
pub enum Command {
    /// Replay a trace.
    Replay {
        /// The name of the file, for error messages.
        file: String,
        /// The name of the era.
        era: String,
        /// True to read a file that was cut short, up to its end.
        #[serde(default)]
        partial: bool,
    },
    /// Play a script on a small zone.
    Sandbox {
        /// The script.
        script: String,
    },
}

/// Carries out a command in JSON. `trace` is the contents of the file, for a command that needs one.
///
/// An error is sent as one sentence. No reply follows an error.
pub fn act(command: &[u8], trace: Vec<u8>, send: &mut dyn FnMut(Reply)) {
    let done = match serde_json::from_slice(command) {
        Ok(Command::Replay { file, era, partial }) => {
            let options = ReadOptions { partial, ..ReadOptions::new(file) };
            replay(options, trace, &era, send)
        }
        Ok(Command::Sandbox { script }) => sandbox(&script).map(&mut *send),
        Err(error) => Err(format!("the page asks for what this engine does not know: {error}")),
    };
    if let Err(sentence) = done {
        send(json!({"kind": "error", "sentence": sentence}).into());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reply(command: &str, trace: &[u8]) -> Vec<Reply> {
        let mut reply = Vec::new();
        act(command.as_bytes(), trace.to_vec(), &mut |message| reply.push(message));
        reply
    }

    #[test]
    fn every_error_is_one_sentence() {
        let replay = r#"{"do": "replay", "file": "x.arrows", "era": "linux-7.3"}"#;
        for (command, trace, says) in [
            ("{}", &b""[..], "does not know"),
            (r#"{"do": "sandbox", "script": "what"}"#, b"", "script"),
            (r#"{"do": "replay", "file": "x.arrows", "era": "linux-9"}"#, b"", "linux-9"),
            (replay, b"", "the file is empty"),
            (replay, b"GIF89a and more of it, long enough", "not a Freehold trace"),
        ] {
            let reply = reply(command, trace);
            let [Reply { json, .. }] = &reply[..] else { panic!("{reply:?}") };
            assert_eq!(json["kind"], "error");
            let sentence = json["sentence"].as_str().expect("a sentence");
            assert!(sentence.contains(says) && !sentence.contains('\n'), "{sentence}");
        }
    }
}
