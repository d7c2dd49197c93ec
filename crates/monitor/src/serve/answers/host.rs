//! Host names that a server on loopback answers to.
//!
//! A page of another site can point its own host name to 127.0.0.1 and make the browser read from this
//! server. The browser then sends that site's name as the host, which is refused.

use std::net::{IpAddr, Ipv6Addr};

/// Returns true if the host of a request can only mean this machine.
pub(super) fn is_own(host: &str) -> bool {
    let name = without_port(host);
    if let Some(address) = name.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
        return address.parse::<Ipv6Addr>().is_ok_and(|address| is_loopback(address.into()));
    }
    let name = name.strip_suffix('.').unwrap_or(name).to_ascii_lowercase();
    name == "localhost"
        || name.ends_with(".localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Returns true if `address` is a loopback address, which includes 127.0.0.0/8 mapped to IPv6.
pub(in crate::serve) fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|digit| digit.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_of_this_machine_are_accepted() {
        for own in [
            "localhost",
            "LocalHost:9321",
            "127.0.0.1:9321",
            "127.8.8.8",
            "[::1]:80",
            "[::1]",
            "[::ffff:127.0.0.1]:9321",
            "a.localhost.",
        ] {
            assert!(is_own(own), "{own}");
        }
        for other in [
            "",
            ":80",
            "example.org",
            "localhost.example.org:9321",
            "127.0.0.1.nip.io",
            "10.0.0.1",
            "[::2]",
            "[::ffff:10.0.0.1]",
            "[::1",
        ] {
            assert!(!is_own(other), "{other}");
        }
    }
}
