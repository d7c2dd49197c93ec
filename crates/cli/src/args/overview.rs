//! The first page of the help: the commands by what they are for.

use std::fmt::Write as _;

use clap::{Command, CommandFactory};

use super::cli::Cli;

/// What commands are for, and which.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Large blocks on this machine", &["explain", "check", "repair", "rehearse", "blame", "callers", "diff"]),
    ("Watch a machine", &["top", "serve", "watch", "snapshot"]),
    (
        "Record a workload, and replay it under other kernels and settings",
        &[
            "record",
            "import",
            "compare",
            "replay",
            "predict",
            "sweep",
            "analyze",
            "fallbacks",
            "demand",
            "trace",
        ],
    ),
    ("Other", &["dev", "help"]),
];

/// Returns the command line, with the commands in groups.
pub(crate) fn command() -> Command {
    let command = Cli::command();
    let mut list = String::new();
    for (title, names) in GROUPS {
        let _ = writeln!(list, "\n{title}:");
        for name in names {
            let about = command.find_subcommand(name).and_then(Command::get_about);
            let about = about.map_or_else(|| "Show the help of a command".to_owned(), ToString::to_string);
            let _ = writeln!(list, "  {name:<10} {}", wrapped(&about));
        }
    }
    command.help_template(format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{list}\nOptions:\n{{options}}{{after-help}}"
    ))
}

/// Breaks a description so that it ends before column 80.
fn wrapped(about: &str) -> String {
    const INDENT: usize = 13;
    let (mut text, mut column) = (String::new(), INDENT);
    for word in about.split(' ') {
        if column > INDENT && column + word.len() > 79 {
            let _ = write!(text, "\n{:INDENT$}", "");
            column = INDENT;
        }
        let space = if column == INDENT { "" } else { " " };
        let _ = write!(text, "{space}{word}");
        column += space.len() + word.len();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_is_in_one_group() {
        let command = Cli::command();
        let mut all: Vec<_> =
            command.get_subcommands().filter(|it| !it.is_hide_set()).map(Command::get_name).collect();
        all.push("help");
        let mut grouped: Vec<_> = GROUPS.into_iter().flat_map(|(_, names)| names).copied().collect();
        all.sort_unstable();
        grouped.sort_unstable();
        assert_eq!(grouped, all);
    }
}
