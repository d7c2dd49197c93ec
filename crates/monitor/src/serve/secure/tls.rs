//! Certificates and keys for handshakes.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::pem::{self, PemObject};
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::WebPkiClientVerifier;
use rustls::version::{TLS12, TLS13};
use rustls::{RootCertStore, ServerConfig, SupportedProtocolVersion, crypto};

use super::error::WebConfigError;
use super::settings::{ClientAuth, Oldest, TlsSettings};

/// Reads the files that the settings name.
///
/// # Errors
/// A file that cannot be read, holds no certificate or key, or a key that is another certificate's.
pub(super) fn server_config(settings: &TlsSettings) -> Result<Arc<ServerConfig>, WebConfigError> {
    let provider = Arc::new(crypto::ring::default_provider());
    let versions: &[&SupportedProtocolVersion] = match settings.oldest {
        Oldest::Tls12 => &[&TLS12, &TLS13],
        Oldest::Tls13 => &[&TLS13],
    };
    let unusable = |path: &Path, error: &dyn std::fmt::Display| {
        WebConfigError::whole(path, format!("it cannot be used: {error}"))
    };
    let config = ServerConfig::builder_with_provider(Arc::clone(&provider))
        .with_protocol_versions(versions)
        .map_err(|error| unusable(&settings.cert_file, &error))?;
    let authorities = |file: &Path| -> Result<_, WebConfigError> {
        let mut roots = RootCertStore::empty();
        for certificate in certificates(file)? {
            roots.add(certificate).map_err(|error| unusable(file, &error))?;
        }
        Ok(WebPkiClientVerifier::builder_with_provider(Arc::new(roots), Arc::clone(&provider)))
    };
    let config = match &settings.clients {
        ClientAuth::None => config.with_no_client_auth(),
        ClientAuth::IfGiven(file) => {
            let verifier = authorities(file)?.allow_unauthenticated().build();
            config.with_client_cert_verifier(verifier.map_err(|error| unusable(file, &error))?)
        }
        ClientAuth::Required(file) => {
            let verifier = authorities(file)?.build();
            config.with_client_cert_verifier(verifier.map_err(|error| unusable(file, &error))?)
        }
    };
    let key_file = &settings.key_file;
    let key = PrivateKeyDer::from_pem_file(key_file).map_err(|error| not_pem(key_file, "key", error))?;
    let mut config = config
        .with_single_cert(certificates(&settings.cert_file)?, key)
        .map_err(|error| unusable(key_file, &error))?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// Returns the certificates of a file, of which there is at least one.
fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>, WebConfigError> {
    let failed = |error| not_pem(file, "certificate", error);
    let found: Vec<_> =
        CertificateDer::pem_file_iter(file).map_err(failed)?.collect::<Result<_, _>>().map_err(failed)?;
    if found.is_empty() { Err(not_pem(file, "certificate", pem::Error::NoItemsFound)) } else { Ok(found) }
}

fn not_pem(file: &Path, what: &str, error: pem::Error) -> WebConfigError {
    match error {
        pem::Error::Io(error) => WebConfigError::unreadable(file, error),
        pem::Error::NoItemsFound => WebConfigError::whole(file, format!("there is no {what} in it, as PEM")),
        other => WebConfigError::whole(file, format!("it is no {what} as PEM: {other}")),
    }
}
