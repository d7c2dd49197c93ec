//! A kernel's configuration: fragments on top of the smallest one, and a check of the result.
//!
//! A fragment has lines of the kernel's syntax, `CONFIG_X=value` and `# CONFIG_X is not set`. Lines after
//! `# only 7.3`, `# only arm64` or `# only counts` are for that kernel, for that architecture, or for trees with
//! that series, until `# all`.

use std::collections::BTreeSet;

use crate::kernel::KernelVersion;

/// The conditions that select lines of a fragment.
#[derive(Clone, Debug)]
pub(super) struct Selection<'a> {
    /// The kernel.
    pub(super) version: KernelVersion,
    /// The kernel's name of the architecture.
    pub(super) arch: &'a str,
    /// The series that the tree has.
    pub(super) series: Option<&'a str>,
    /// The options of the series that this tree lacks.
    pub(super) absent: &'a BTreeSet<String>,
}

/// One selected line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Setting {
    /// The option, without `CONFIG_`.
    option: String,
    /// Its value; `None` if the option must be off.
    value: Option<String>,
}

impl Setting {
    fn parse(line: &str) -> Option<Self> {
        if let Some(rest) = line.strip_prefix("# CONFIG_") {
            let option = rest.strip_suffix(" is not set")?.to_owned();
            return Some(Self { option, value: None });
        }
        let (option, value) = line.strip_prefix("CONFIG_")?.split_once('=')?;
        let value = (value != "n").then(|| value.to_owned());
        Some(Self { option: option.to_owned(), value })
    }

    /// Returns the line of a configuration.
    fn line(&self) -> String {
        match &self.value {
            Some(value) => format!("CONFIG_{}={value}", self.option),
            None => format!("# CONFIG_{} is not set", self.option),
        }
    }
}

impl Selection<'_> {
    /// Returns the selected settings of a fragment. The error is a line that does not parse.
    pub(super) fn of(&self, fragment: &str) -> Result<Vec<Setting>, String> {
        let mut settings = Vec::new();
        let mut applies = true;
        for line in fragment.lines().map(str::trim).filter(|line| !line.is_empty()) {
            if let Some(only) = line.strip_prefix("# only ") {
                let mut names = only.split_whitespace();
                let named = [Some(self.version.name()), Some(self.arch), self.series];
                applies = names.any(|name| named.contains(&Some(name)));
            } else if line == "# all" {
                applies = true;
            } else if let Some(setting) = Setting::parse(line) {
                if applies && !self.absent.contains(&setting.option) {
                    settings.push(setting);
                }
            } else if !line.starts_with('#') {
                return Err(format!("`{line}` is not a line of a configuration"));
            }
        }
        Ok(settings)
    }
}

/// Returns `config` with these settings; the last of several settings of an option counts.
pub(super) fn merged(config: &str, settings: &[Setting]) -> String {
    let last = last(settings);
    let named: BTreeSet<&str> = last.iter().map(|setting| setting.option.as_str()).collect();
    let is_named = |line: &str| Setting::parse(line).is_some_and(|own| named.contains(own.option.as_str()));
    let own = config.lines().filter(|line| !is_named(line)).map(str::to_owned);
    let lines: Vec<_> = own.chain(last.iter().map(|setting| setting.line())).collect();
    lines.join("\n") + "\n"
}

/// Returns the first setting that a final configuration lacks, and what it has instead.
pub(super) fn fault(config: &str, settings: &[Setting]) -> Option<String> {
    last(settings).into_iter().find_map(|setting| {
        let start = format!("CONFIG_{}=", setting.option);
        let have = config.lines().find_map(|line| line.strip_prefix(&start));
        if have == setting.value.as_deref() {
            return None;
        }
        let instead = have.map_or("off".to_owned(), |value| format!("CONFIG_{}={value}", setting.option));
        Some(format!("`{}` is required, but the result is {instead}", setting.line()))
    })
}

/// Returns the last setting of each option.
fn last(settings: &[Setting]) -> Vec<&Setting> {
    let mut seen = BTreeSet::new();
    let mut last: Vec<_> = settings.iter().rev().filter(|setting| seen.insert(&setting.option)).collect();
    last.reverse();
    last
}

/// Returns the options that a Kconfig file defines.
pub(super) fn options(kconfig: &str) -> impl Iterator<Item = String> {
    kconfig.lines().filter_map(|line| {
        let mut words = line.split_whitespace();
        match (words.next()?, words.next(), words.next()) {
            ("config" | "menuconfig", Some(name), None) => Some(name.to_owned()),
            _ => None,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const FRAGMENT: &str = "# Words.\nCONFIG_A=y\n# CONFIG_B is not set\n# only 7.3\nCONFIG_SMP=y\n\
        # only counts\nCONFIG_COUNTS=y\nCONFIG_LATER=y\n# only arm64\nCONFIG_EFI=y\n# all\nCONFIG_N=8\n";

    fn wanted(version: KernelVersion, arch: &str, series: Option<&str>) -> Vec<String> {
        let absent = ["LATER".to_owned()].into();
        let settings = Selection { version, arch, series, absent: &absent }.of(FRAGMENT).unwrap();
        settings.iter().map(Setting::line).collect()
    }

    #[test]
    fn lines_are_for_all_kernels_or_for_some() {
        assert_eq!(
            wanted(KernelVersion::V6_12, "arm64", Some("other")),
            ["CONFIG_A=y", "# CONFIG_B is not set", "CONFIG_EFI=y", "CONFIG_N=8"]
        );
        assert_eq!(
            wanted(KernelVersion::V7_3, "um", Some("counts"))[2..],
            ["CONFIG_SMP=y", "CONFIG_COUNTS=y", "CONFIG_N=8"]
        );
    }

    #[test]
    fn last_setting_of_an_option_counts() {
        let settings: Vec<_> = ["CONFIG_A=y", "# CONFIG_B is not set", "CONFIG_A=7"]
            .iter()
            .filter_map(|line| Setting::parse(line))
            .collect();
        let config = merged("CONFIG_C=y\n# CONFIG_A is not set\nCONFIG_B=y\n", &settings);
        assert_eq!(config, "CONFIG_C=y\n# CONFIG_B is not set\nCONFIG_A=7\n");
        assert_eq!(fault(&config, &settings), None);
        assert_eq!(
            fault("CONFIG_B=y\n", &settings).as_deref(),
            Some("`# CONFIG_B is not set` is required, but the result is CONFIG_B=y")
        );
        assert_eq!(fault("", &settings).as_deref(), Some("`CONFIG_A=7` is required, but the result is off"));
    }

    #[test]
    fn invalid_lines_are_refused() {
        let absent = BTreeSet::new();
        let version = KernelVersion::V7_3;
        let wanted = Selection { version, arch: "um", series: None, absent: &absent };
        assert_eq!(wanted.of("A=y").unwrap_err(), "`A=y` is not a line of a configuration");
    }

    #[test]
    fn the_options_of_a_kconfig_file_are_found() {
        let text = "choice\nconfig A\n\tbool\n\thelp\n\t  config this as you like\nmenuconfig B\n";
        assert_eq!(options(text).collect::<Vec<_>>(), ["A", "B"]);
    }
}
