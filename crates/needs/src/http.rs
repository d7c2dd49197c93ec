//! HTTP requests.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;

use serde_json::Value;

use crate::patience::PATIENCE;

/// Sends a request, with an optional body, to a server that replies in JSON. Returns `None` if the server does not
/// reply yet.
pub fn request_json(address: &str, method: &str, path: &str, body: &str) -> Option<Value> {
    serde_json::from_slice(&request(address, method, path, body)?).ok()
}

/// Sends a request. Returns the body of the response, or `None` if there is no complete response.
pub fn request(address: &str, method: &str, path: &str, body: &str) -> Option<Vec<u8>> {
    let mut stream = TcpStream::connect(address).ok()?;
    stream.set_read_timeout(Some(PATIENCE)).ok()?;
    let length = body.len();
    write!(
        stream,
        "{method} {path} HTTP/1.1\r\nHost: {address}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}"
    )
    .ok()?;
    let mut reader = BufReader::new(stream);
    let (mut length, mut chunked) = (None, false);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok().filter(|&bytes| bytes > 0)?;
        let line = line.trim().to_lowercase();
        if line.is_empty() {
            break;
        }
        match line.split_once(':').map(|(name, value)| (name, value.trim())) {
            Some(("transfer-encoding", value)) => chunked = value == "chunked",
            Some(("content-length", value)) => length = value.parse().ok(),
            _ => {}
        }
    }
    let mut text = Vec::new();
    if chunked {
        read_chunks(&mut reader, &mut text)?;
    } else {
        reader.take(length.unwrap_or(u64::MAX)).read_to_end(&mut text).ok()?;
    }
    Some(text)
}

fn read_chunks(reader: &mut impl BufRead, text: &mut Vec<u8>) -> Option<()> {
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let length = u64::from_str_radix(line.trim(), 16).ok()?;
        reader.by_ref().take(length + 2).read_to_end(text).ok()?;
        text.truncate(text.len() - 2);
        if length == 0 {
            return Some(());
        }
    }
}
