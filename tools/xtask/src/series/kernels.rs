//! The kernels that patches may be for.

use crate::kernel::KernelVersion;

/// The kernels that patches may be for, oldest first. Each series says which of them it is for.
pub const KERNELS: [KernelVersion; 4] =
    [KernelVersion::V6_12, KernelVersion::V6_18, KernelVersion::V7_2, KernelVersion::V7_3];

/// Returns the kernels' names as a list of words: `6.12, 7.2 and 7.3`.
pub(crate) fn names(kernels: &[KernelVersion]) -> String {
    match kernels.split_last() {
        Some((last, [])) => last.name().to_owned(),
        Some((last, others)) => {
            let others: Vec<_> = others.iter().map(|kernel| kernel.name()).collect();
            format!("{} and {last}", others.join(", "))
        }
        None => String::new(),
    }
}

/// Returns the kernel of a name, if patches may be for it.
pub(crate) fn from_name(name: &str) -> Option<KernelVersion> {
    KernelVersion::from_name(name).filter(|version| KERNELS.contains(version))
}

/// Parses names that commas separate, as the head of a semantic patch and a `lines` file have them. The error is
/// the first unknown name.
pub(super) fn from_list(list: &str) -> Result<Vec<KernelVersion>, &str> {
    list.split(',').map(str::trim).map(|name| from_name(name).ok_or(name)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernels_are_named_as_a_list_of_words() {
        assert_eq!(names(&KERNELS), "6.12, 6.18, 7.2 and 7.3");
        assert_eq!(names(&KERNELS[2..]), "7.2 and 7.3");
        assert_eq!(names(&KERNELS[3..]), "7.3");
        assert_eq!(names(&[]), "");
    }

    #[test]
    fn a_list_is_parsed_name_by_name() {
        assert_eq!(from_list("6.18, 7.2"), Ok(vec![KernelVersion::V6_18, KernelVersion::V7_2]));
        assert_eq!(from_list("7.3"), Ok(vec![KernelVersion::V7_3]));
        assert_eq!(from_list("7.3, 6.1"), Err("6.1"));
        assert_eq!(from_list("7.3,"), Err(""));
    }
}
