//! Encrypted connections: whose certificates are trusted.

use super::*;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivateSec1KeyDer, pem::PemObject};
use std::io::{BufReader, Write};
use std::net::TcpListener;
use std::sync::Arc;

/// Self-signed, for 127.0.0.1 and localhost, valid until 2120; its key signs nothing else.
const AUTHORITY: &[u8] = include_bytes!("authority.pem");
const KEY: &[u8] = include_bytes!("server.der");

/// A server that encrypts, and answers every request with one reply.
fn encrypted() -> String {
    let certificates = vec![CertificateDer::from_pem_slice(AUTHORITY).unwrap()];
    let key = PrivateKeyDer::Sec1(PrivateSec1KeyDer::from(KEY.to_vec()));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(certificates, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let connection = rustls::ServerConnection::new(config.clone()).unwrap();
            let mut stream = rustls::StreamOwned::new(connection, stream);
            // A client that does not trust us leaves.
            let Some(_) = crate::endpoint::request(&mut BufReader::new(&mut stream)) else {
                continue;
            };
            let body = completion("in private").to_string();
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n{body}", body.len());
            stream.write_all(head.as_bytes()).ok();
            stream.conn.send_close_notify();
            stream.flush().ok();
        }
    });
    url
}

#[test]
fn a_certificate_of_nobody_that_is_trusted_is_told() {
    let error = ask(&client(provider(&encrypted()))).unwrap_err();
    assert_eq!(error.kind(), "tls", "{error}");
    assert!(error.to_string().contains("ca_file"), "{error}");
}

#[test]
fn an_authority_of_one_s_own_is_trusted_where_it_is_named() {
    let url = encrypted();
    let trusting = Provider { authorities: Some(AUTHORITY.to_vec()), ..provider(&url) };
    assert_eq!(ask(&client(trusting)).unwrap().message.content, "in private");
    let garbage = Provider { authorities: Some(b"no certificate".to_vec()), ..provider(&url) };
    let refused = Client::new(garbage, "small", Settings::default(), 1);
    assert!(refused.is_err() || ask(&refused.unwrap()).is_err());
}

#[test]
fn a_server_that_does_not_encrypt_is_told() {
    let server = Endpoint::saying([Say::Text(400, String::new(), b"plain".to_vec())]);
    let url = server.url().replace("http://", "https://");
    let trusting = Provider { authorities: Some(AUTHORITY.to_vec()), ..provider(&url) };
    let error = ask(&client(trusting)).unwrap_err();
    assert_eq!(error.kind(), "tls", "{error}");
}
