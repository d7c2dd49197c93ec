//! Who may ask: users and the hashes of their passwords.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::hmac;
use tokio::sync::Semaphore;

/// Users and the hashes of their passwords. Nobody has to say who they are if there are none.
pub(in crate::serve) struct Users {
    hashes: BTreeMap<String, String>,
    /// Under which `admitted` are made, for this process alone.
    key: hmac::Key,
    /// A tag of the password that each user was admitted by: bcrypt is slow, and scrapes come every few seconds.
    admitted: Mutex<BTreeMap<String, hmac::Tag>>,
}

impl Users {
    /// # Errors
    /// If the system gives no random numbers.
    pub(super) fn new(hashes: BTreeMap<String, String>) -> Result<Self, ring::error::Unspecified> {
        let key = hmac::Key::generate(hmac::HMAC_SHA256, &ring::rand::SystemRandom::new())?;
        Ok(Self { hashes, key, admitted: Mutex::new(BTreeMap::new()) })
    }

    /// Returns true if nobody has to say who they are.
    pub(in crate::serve) fn is_open(&self) -> bool {
        self.hashes.is_empty()
    }

    /// Returns true if the header `Authorization` has a user's password. The holder of `turn` may compute a hash.
    pub(in crate::serve) async fn admit(self: Arc<Self>, authorization: &str, turn: &Semaphore) -> bool {
        let Some((user, password)) = credentials(authorization) else { return false };
        let said = format!("{user}\0{password}");
        let known = self.admitted().get(&user).copied();
        if known.is_some_and(|tag| hmac::verify(&self.key, said.as_bytes(), tag.as_ref()).is_ok()) {
            return true;
        }
        // One hash at a time: clients that guess do not keep the processors busy.
        let Ok(_turn) = turn.acquire().await else { return false };
        let users = Arc::clone(&self);
        let name = user.clone();
        let fits = tokio::task::spawn_blocking(move || users.fits(&name, &password)).await.unwrap_or(false);
        if fits {
            self.admitted().insert(user, hmac::sign(&self.key, said.as_bytes()));
        }
        fits
    }

    /// Returns true if the password is that of the user. It takes as long for names that are no user's.
    fn fits(&self, user: &str, password: &str) -> bool {
        let hash = self.hashes.get(user).or_else(|| self.hashes.values().next());
        let fits = hash.is_some_and(|hash| bcrypt::verify(password, hash).unwrap_or(false));
        fits && self.hashes.contains_key(user)
    }

    fn admitted(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, hmac::Tag>> {
        self.admitted.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns user and password of the header `Authorization`.
fn credentials(authorization: &str) -> Option<(String, String)> {
    let (scheme, encoded) = authorization.split_once(' ')?;
    let decoded = STANDARD.decode(encoded.trim()).ok().filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    let (user, password) = std::str::from_utf8(&decoded).ok()?.split_once(':')?;
    Some((user.to_owned(), password.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_has_the_password_is_admitted() {
        let hash = bcrypt::hash("secret", 4).unwrap();
        let users = Arc::new(Users::new(BTreeMap::from([("ann".to_owned(), hash)])).unwrap());
        let turn = Semaphore::new(1);
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        let admits = |said: &str| runtime.block_on(Arc::clone(&users).admit(said, &turn));
        let basic = |said: &str| format!("Basic {}", STANDARD.encode(said));
        for _ in 0..2 {
            assert!(admits(&basic("ann:secret")));
            assert!(admits(&basic("ann:secret").replace("Basic", "basic")));
            for wrong in ["ann:secre", "ann:", "bob:secret", ":secret", "ann", "", "ann:secret\0"] {
                assert!(!admits(&basic(wrong)), "{wrong}");
            }
            for wrong in ["", "Basic", "Basic ***", "Bearer YW5uOnNlY3JldA=="] {
                assert!(!admits(wrong), "{wrong}");
            }
        }
        assert_eq!(users.admitted().len(), 1, "only those who were right are kept");
    }
}
