//! `freehold dev reference`: every command, option and exit code as Markdown.

use std::fmt::Write as _;

use clap::{Arg, Command, CommandFactory};

use crate::args::Cli;
use crate::exit::{CODES, Failure};
use crate::output;

/// The start of the page.
const HEAD: &str = "\
# Commands, options and exit codes

`freehold dev reference` writes this page.
";

/// Prints the page.
pub(crate) fn run() -> Result<(), Failure> {
    output::print(&text())
}

fn text() -> String {
    let mut text =
        format!("{HEAD}\n## Exit codes\n\n```text\n{}\n```\n", CODES.trim_start_matches("Exit codes: "));
    let mut root = Cli::command();
    root.build();
    for command in root.get_subcommands().filter(|command| is_shown(command)) {
        add(&mut text, "freehold", command);
    }
    text
}

fn is_shown(command: &Command) -> bool {
    !command.is_hide_set() && command.get_name() != "help"
}

/// Adds a command, or the commands below it.
fn add(text: &mut String, parent: &str, command: &Command) {
    let name = format!("{parent} {}", command.get_name());
    if command.has_subcommands() {
        return command
            .get_subcommands()
            .filter(|below| is_shown(below))
            .for_each(|below| add(text, &name, below));
    }
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    let _ = write!(text, "\n## `{name}`\n\n{about}\n\n| argument | value | meaning |\n|---|---|---|\n");
    let shown = |arg: &&Arg| !arg.is_hide_set() && !matches!(arg.get_id().as_str(), "help" | "version");
    for arg in command.get_arguments().filter(shown) {
        row(text, arg);
    }
    if let Some(codes) = command.get_after_help() {
        let _ = write!(text, "\n```text\n{codes}\n```\n");
    }
}

/// Adds the row of an option or a positional argument.
fn row(text: &mut String, arg: &Arg) {
    let long = arg.get_long().map(|long| format!("`--{long}`"));
    let short = arg.get_short().map(|short| format!("`-{short}`, ")).unwrap_or_default();
    let takes_value = arg.get_action().takes_values();
    let values = arg.get_value_names().unwrap_or_default();
    let value = values.iter().map(|value| format!("`{value}`")).collect::<Vec<_>>().join(" ");
    let name = long.map_or_else(|| value.clone(), |long| short + &long);
    let choices: Vec<_> =
        arg.get_possible_values().iter().map(|choice| format!("`{}`", choice.get_name())).collect();
    let value = match takes_value {
        true if !choices.is_empty() => choices.join(", "),
        true if !arg.is_positional() => value,
        _ => String::new(),
    };
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults = arg.get_default_values().iter().map(|value| format!("`{}`", value.to_string_lossy()));
    let defaults =
        if arg.is_hide_default_value_set() || !takes_value { Vec::new() } else { defaults.collect() };
    let default =
        if defaults.is_empty() { String::new() } else { format!(" Default: {}.", defaults.join(", ")) };
    let stop = if help.ends_with('.') { "" } else { "." };
    let _ = writeln!(text, "| {name} | {} | {}{stop}{default} |", cell(&value), cell(&help));
}

/// Returns the text of a table's cell.
fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('\n', " ")
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    /// `FREEHOLD_REWRITE=1` writes the page instead.
    #[test]
    fn the_reference_page_has_every_option() {
        let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/commands.md");
        if std::env::var_os("FREEHOLD_REWRITE").is_some() {
            std::fs::write(&page, text()).expect("the page");
        }
        let kept = std::fs::read_to_string(&page).unwrap_or_default();
        assert!(kept == text(), "{} is old: run this test with FREEHOLD_REWRITE=1", page.display());
    }
}
