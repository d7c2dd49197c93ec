//! What a web configuration says.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use bcrypt::HashParts;

use super::error::WebConfigError;
use super::yaml::{Entry, Flaw, Value, mapping};

/// What a web configuration says.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct Settings {
    pub(super) tls: Option<TlsSettings>,
    /// The bcrypt hash of each user's password.
    pub(super) users: BTreeMap<String, String>,
}

/// `tls_server_config`.
#[derive(PartialEq, Eq, Debug)]
pub(super) struct TlsSettings {
    pub(super) cert_file: PathBuf,
    pub(super) key_file: PathBuf,
    pub(super) clients: ClientAuth,
    pub(super) oldest: Oldest,
}

/// `client_auth_type`, with the authorities of `client_ca_file`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum ClientAuth {
    None,
    IfGiven(PathBuf),
    Required(PathBuf),
}

/// `min_version`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Oldest {
    Tls12,
    Tls13,
}

/// The costs that bcrypt has.
const COSTS: std::ops::RangeInclusive<u32> = 4..=31;

impl Settings {
    /// Reads the text of the file at `path`; names of other files are relative to its folder.
    ///
    /// # Errors
    /// What is not known, by its name.
    pub(super) fn parse(text: &str, path: &Path) -> Result<Self, WebConfigError> {
        let folder = path.parent().unwrap_or(Path::new(""));
        let read = || -> Result<Self, Flaw> {
            let mut settings = Self { tls: None, users: BTreeMap::new() };
            for entry in mapping(text)? {
                match entry.key.as_str() {
                    "tls_server_config" => settings.tls = tls(below(&entry)?, entry.line, folder)?,
                    "basic_auth_users" => settings.users = users(below(&entry)?)?,
                    _ => return Err(unknown(&entry, "tls_server_config, basic_auth_users")),
                }
            }
            Ok(settings)
        };
        read().map_err(|Flaw { line, what }| WebConfigError::Line { path: path.to_owned(), line, what })
    }
}

fn unknown(entry: &Entry, known: &str) -> Flaw {
    let what = format!("`{}` is not known here; of the exporter toolkit's keys there are {known}", entry.key);
    Flaw::new(entry.line, what)
}

/// Returns the mapping behind a key, which may be empty.
fn below(entry: &Entry) -> Result<&[Entry], Flaw> {
    match &entry.value {
        Value::Mapping(entries) => Ok(entries),
        Value::Text(text) if text.is_empty() => Ok(&[]),
        Value::Text(_) => {
            Err(Flaw::new(entry.line, format!("`{}` has names with values below it", entry.key)))
        }
    }
}

fn text(entry: &Entry) -> Result<&str, Flaw> {
    match &entry.value {
        Value::Text(text) => Ok(text),
        Value::Mapping(_) => Err(Flaw::new(entry.line, format!("`{}` has one value", entry.key))),
    }
}

fn users(entries: &[Entry]) -> Result<BTreeMap<String, String>, Flaw> {
    let mut users = BTreeMap::new();
    for entry in entries {
        let hash = text(entry)?;
        let parts = HashParts::from_str(hash).ok().filter(|parts| COSTS.contains(&parts.get_cost()));
        if parts.is_none() {
            let what = format!(
                "the password of `{}` is no bcrypt hash; `htpasswd -nBC 10 \"\"` makes one of a password",
                entry.key
            );
            return Err(Flaw::new(entry.line, what));
        }
        users.insert(entry.key.clone(), hash.to_owned());
    }
    Ok(users)
}

/// Returns the settings of TLS; `None` if there are none at all.
fn tls(entries: &[Entry], line: usize, folder: &Path) -> Result<Option<TlsSettings>, Flaw> {
    let (mut cert_file, mut key_file, mut ca_file) = (None, None, None);
    let (mut kind, mut oldest) = (("NoClientCert", line), Oldest::Tls12);
    for entry in entries {
        let value = text(entry)?;
        let file = || (!value.is_empty()).then(|| folder.join(value));
        match entry.key.as_str() {
            "cert_file" => cert_file = file(),
            "key_file" => key_file = file(),
            "client_ca_file" => ca_file = file(),
            "client_auth_type" if value.is_empty() => {}
            "client_auth_type" => kind = (value, entry.line),
            "min_version" => oldest = min_version(value, entry.line)?,
            _ => {
                let known = "cert_file, key_file, client_auth_type, client_ca_file, min_version";
                return Err(unknown(entry, known));
            }
        }
    }
    if entries.is_empty() {
        return Ok(None);
    }
    let missing = |name: &str| Flaw::new(line, format!("`tls_server_config` needs `{name}`"));
    Ok(Some(TlsSettings {
        cert_file: cert_file.ok_or_else(|| missing("cert_file"))?,
        key_file: key_file.ok_or_else(|| missing("key_file"))?,
        clients: clients(kind.0, kind.1, ca_file)?,
        oldest,
    }))
}

fn min_version(value: &str, line: usize) -> Result<Oldest, Flaw> {
    match value {
        "TLS12" => Ok(Oldest::Tls12),
        "TLS13" => Ok(Oldest::Tls13),
        "TLS10" | "TLS11" => {
            Err(Flaw::new(line, "`min_version` is TLS12 or TLS13: older ones are not spoken"))
        }
        _ => Err(Flaw::new(line, format!("`min_version` is TLS12 or TLS13, not `{value}`"))),
    }
}

fn clients(kind: &str, line: usize, ca_file: Option<PathBuf>) -> Result<ClientAuth, Flaw> {
    match (kind, ca_file) {
        ("NoClientCert", None) => Ok(ClientAuth::None),
        ("NoClientCert", Some(_)) => Err(Flaw::new(
            line,
            "`client_ca_file` is of use with `client_auth_type: RequireAndVerifyClientCert`",
        )),
        ("VerifyClientCertIfGiven", Some(file)) => Ok(ClientAuth::IfGiven(file)),
        ("RequireAndVerifyClientCert", Some(file)) => Ok(ClientAuth::Required(file)),
        ("VerifyClientCertIfGiven" | "RequireAndVerifyClientCert", None) => {
            Err(Flaw::new(line, format!("`client_auth_type: {kind}` needs `client_ca_file`")))
        }
        ("RequestClientCert" | "RequireAnyClientCert" | "RequireClientCert", _) => {
            let what = format!(
                "`client_auth_type: {kind}` takes certificates that anybody can make, and is not offered; take \
                 RequireAndVerifyClientCert"
            );
            Err(Flaw::new(line, what))
        }
        _ => {
            let what = format!(
                "`client_auth_type` is NoClientCert, VerifyClientCertIfGiven or RequireAndVerifyClientCert, not `{kind}`"
            );
            Err(Flaw::new(line, what))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Settings, String> {
        Settings::parse(text, Path::new("/etc/freehold/web.yml")).map_err(|error| error.to_string())
    }

    #[test]
    fn the_toolkits_names_are_understood() {
        let hash = bcrypt::hash("secret", 4).unwrap();
        let text = format!(
            "tls_server_config:\n  cert_file: a.crt\n  key_file: /b.key\n  client_auth_type: \
             RequireAndVerifyClientCert\n  client_ca_file: ca.crt\n  min_version: TLS13\nbasic_auth_users:\n  ann: \
             {hash}\n"
        );
        let settings = parse(&text).unwrap();
        let tls = settings.tls.unwrap();
        assert_eq!(tls.cert_file, Path::new("/etc/freehold/a.crt"), "beside the file that names it");
        assert_eq!(tls.key_file, Path::new("/b.key"));
        assert_eq!(tls.clients, ClientAuth::Required("/etc/freehold/ca.crt".into()));
        assert_eq!(tls.oldest, Oldest::Tls13);
        assert_eq!(settings.users["ann"], hash);
        for empty in ["", "# nothing\n", "basic_auth_users:\n", "tls_server_config:\nbasic_auth_users: {}\n"]
        {
            assert_eq!(parse(empty).unwrap(), Settings { tls: None, users: BTreeMap::new() }, "{empty}");
        }
    }

    #[test]
    fn what_is_not_understood_is_named_with_its_line() {
        let tls = "tls_server_config:\n  cert_file: a\n  key_file: b\n";
        for (text, line, words) in [
            ("http_server_config:\n  http2: true\n".to_owned(), 1, "`http_server_config` is not known"),
            (format!("{tls}  cipher_suites: x\n"), 4, "`cipher_suites` is not known"),
            (format!("{tls}  min_version: TLS11\n"), 4, "TLS12 or TLS13"),
            (format!("{tls}  client_auth_type: RequireAnyClientCert\n"), 4, "RequireAndVerifyClientCert"),
            (format!("{tls}  client_auth_type: RequireAndVerifyClientCert\n"), 4, "needs `client_ca_file`"),
            (format!("{tls}  client_ca_file: c\n"), 1, "RequireAndVerifyClientCert"),
            ("tls_server_config:\n  cert_file: a\n".to_owned(), 1, "needs `key_file`"),
            ("basic_auth_users:\n  ann: secret\n".to_owned(), 2, "htpasswd"),
            ("basic_auth_users: ann\n".to_owned(), 1, "names with values"),
        ] {
            let said = parse(&text).expect_err(&text);
            assert!(said.starts_with(&format!("/etc/freehold/web.yml:{line}: ")), "{said}");
            assert!(said.contains(words), "{said}");
        }
    }
}
