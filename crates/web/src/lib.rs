//! The engine and the lab for a page that replays traces in the browser.
//!
//! A [`Command`] comes in, and [`Reply`] messages go out. [`replay`] replays a trace in one era, and sends moments of
//! the replay. [`sandbox`] plays a short script on a small zone. Both depend only on their input. The module `abi`,
//! which exists only in WebAssembly, connects them to JavaScript.
#![deny(unsafe_code)]

#[cfg(target_family = "wasm")]
mod abi;
mod command;
mod message;
mod replay;
mod sandbox;

pub use command::{Command, act};
pub use message::Reply;
pub use replay::replay;
pub use sandbox::sandbox;

#[cfg(test)]
mod tests {
    /// Returns the names between `before` and the next bracket.
    fn names<'t>(text: &'t str, before: &'t str) -> Vec<&'t str> {
        let rests = text.split(before).skip(1);
        rests
            .filter_map(|rest| rest.split_once('('))
            .map(|(name, _)| name)
            .filter(|name| is_name(name))
            .collect()
    }

    fn is_name(text: &str) -> bool {
        text.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    }

    /// The module `abi` exists only in WebAssembly, so no compiler compares its names with those of the page.
    #[test]
    fn page_and_module_have_the_same_functions() {
        let (module, page) = (include_str!("abi.rs"), include_str!("../page/engine.js"));
        let imports = names(module, "safe fn ");
        assert_eq!(imports, ["send"]);
        for name in imports {
            assert!(page.contains(&format!("    {name}: (")), "the page has no function `{name}`");
        }
        let exports = names(module, "extern \"C\" fn ");
        assert_eq!(exports, names(page, " exports."), "what the page calls");
    }
}
