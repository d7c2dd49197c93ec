//! The web configuration as its files now are.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustls::ServerConfig;
use tokio::sync::Semaphore;
use tokio::sync::mpsc::UnboundedSender;

use super::error::WebConfigError;
use super::settings::{ClientAuth, Settings};
use super::stamp::Stamp;
use super::tls::server_config;
use super::users::Users;

/// The web configuration as its files now are.
pub(in crate::serve) struct Secured {
    path: PathBuf,
    /// Whether connections begin with a handshake; decided when the server starts.
    has_tls: bool,
    state: Mutex<State>,
    /// For the hashing of passwords.
    turn: Semaphore,
    tell: UnboundedSender<String>,
}

struct State {
    loaded: Loaded,
    /// Why the files cannot be used as they are.
    trouble: Option<String>,
}

/// What the files say, and which files they were.
#[derive(Clone)]
struct Loaded {
    tls: Option<Arc<ServerConfig>>,
    users: Arc<Users>,
    verifies_clients: bool,
    files: Vec<(PathBuf, Stamp)>,
}

impl Secured {
    /// Reads the file at `path` and those that it names. What goes wrong later is sent to `tell`.
    ///
    /// # Errors
    /// If any of them cannot be used.
    pub(in crate::serve) fn open(path: &Path, tell: UnboundedSender<String>) -> Result<Self, WebConfigError> {
        let loaded = load(path)?;
        let has_tls = loaded.tls.is_some();
        let state = Mutex::new(State { loaded, trouble: None });
        Ok(Self { path: path.to_owned(), has_tls, state, turn: Semaphore::new(1), tell })
    }

    /// Returns true if connections begin with a handshake.
    pub(in crate::serve) fn has_tls(&self) -> bool {
        self.has_tls
    }

    /// Returns true if not everybody who connects is answered.
    pub(in crate::serve) fn is_closed(&self) -> bool {
        self.current().is_none_or(|loaded| loaded.verifies_clients || !loaded.users.is_open())
    }

    /// Returns what a handshake needs; `None` while the files cannot be used.
    pub(in crate::serve) fn handshake(&self) -> Option<Arc<ServerConfig>> {
        self.current()?.tls
    }

    /// Returns true if the header `Authorization`, if any, lets a request in; `None` while the files cannot be used.
    pub(in crate::serve) async fn admits(&self, authorization: Option<&str>) -> Option<bool> {
        let users = self.current()?.users;
        Some(users.is_open() || users.admit(authorization.unwrap_or_default(), &self.turn).await)
    }

    /// Reads the files anew if one of them has changed. Returns `None` if they cannot be used as they are.
    fn current(&self) -> Option<Loaded> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let changed = state.loaded.files.iter().any(|(path, stamp)| Stamp::of(path) != *stamp);
        if !changed && state.trouble.is_none() {
            return Some(state.loaded.clone());
        }
        let loaded = load(&self.path).and_then(|loaded| {
            let same = loaded.tls.is_some() == self.has_tls;
            let what = "whether there is TLS cannot change while the server runs; start it again";
            same.then_some(loaded).ok_or_else(|| WebConfigError::whole(&self.path, what))
        });
        match loaded {
            Ok(loaded) => {
                *state = State { loaded, trouble: None };
                Some(state.loaded.clone())
            }
            Err(error) => {
                let trouble = Some(error.to_string());
                if state.trouble != trouble {
                    // The other end lives as long as the server.
                    let _ = self.tell.send(format!("nobody is answered until this is mended: {error}"));
                    state.trouble = trouble;
                }
                None
            }
        }
    }
}

fn load(path: &Path) -> Result<Loaded, WebConfigError> {
    // The stamps are older than what is read: a file that changes meanwhile is read again.
    let mut files = vec![(path.to_owned(), Stamp::of(path))];
    let text = std::fs::read_to_string(path).map_err(|error| WebConfigError::unreadable(path, error))?;
    let settings = Settings::parse(&text, path)?;
    let mut verifies_clients = false;
    if let Some(tls) = &settings.tls {
        let mut named = vec![&tls.cert_file, &tls.key_file];
        if let ClientAuth::IfGiven(file) | ClientAuth::Required(file) = &tls.clients {
            named.push(file);
        }
        verifies_clients = matches!(tls.clients, ClientAuth::Required(_));
        files.extend(named.into_iter().map(|file| (file.clone(), Stamp::of(file))));
    }
    let tls = settings.tls.as_ref().map(server_config).transpose()?;
    let users = Users::new(settings.users)
        .map_err(|_| WebConfigError::whole(path, "the system gives no random numbers for it"))?;
    Ok(Loaded { tls, users: Arc::new(users), verifies_clients, files })
}
