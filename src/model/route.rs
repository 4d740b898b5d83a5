//! Whether a host is reached through a proxy, as the environment's variables say. Pure.

use std::net::IpAddr;

/// A proxy, and the variable that names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Proxy {
    pub variable: String,
    /// May hold a password.
    url: String,
}

impl Proxy {
    pub fn new(variable: impl Into<String>, url: impl Into<String>) -> Self {
        Self { variable: variable.into(), url: url.into() }
    }

    pub(super) fn url(&self) -> &str {
        &self.url
    }

    /// Without a name and a password.
    pub fn shown(&self) -> String {
        match self.url.rsplit_once('@') {
            None => self.url.clone(),
            Some((before, host)) => {
                let scheme = before.split_once("://").map_or("", |(scheme, _)| scheme);
                if scheme.is_empty() { host.to_owned() } else { format!("{scheme}://{host}") }
            }
        }
    }
}

/// What the environment says of proxies.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proxies {
    pub http: Option<Proxy>,
    pub https: Option<Proxy>,
    /// Hosts that are reached without, separated by commas.
    pub none_for: String,
}

impl Proxies {
    /// This machine itself is never reached through a proxy: what a proxy calls localhost is another machine.
    pub(super) fn route(&self, base: &super::BaseUrl) -> Option<&Proxy> {
        let proxy = if base.is_https() { &self.https } else { &self.http };
        let direct =
            base.is_local() || self.none_for.split(',').any(|entry| is_of(base.host(), entry));
        proxy.as_ref().filter(|_| !direct)
    }
}

/// Whether a host is meant by an entry: `*`, a domain with all below it, an address, or a network of addresses.
fn is_of(host: &str, entry: &str) -> bool {
    let entry = entry.trim().to_ascii_lowercase();
    let host = host.trim_matches(['[', ']']).to_ascii_lowercase();
    if entry.is_empty() {
        return false;
    }
    if let (Ok(address), Some((network, bits))) = (host.parse::<IpAddr>(), entry.split_once('/')) {
        return network.parse().is_ok_and(|network| in_network(address, network, bits));
    }
    // A port is no part of what is compared.
    let entry = match entry.rsplit_once(':') {
        Some((name, port)) if !name.contains(':') && port.bytes().all(|b| b.is_ascii_digit()) => {
            name
        }
        _ => entry.trim_matches(['[', ']']),
    };
    let domain = entry.trim_start_matches("*.").trim_start_matches('.');
    entry == "*"
        || host == domain
        || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

fn in_network(address: IpAddr, network: IpAddr, bits: &str) -> bool {
    let Ok(bits) = bits.parse::<u32>() else { return false };
    let (address, network, width) = match (address, network) {
        (IpAddr::V4(a), IpAddr::V4(b)) => (u128::from(a.to_bits()), u128::from(b.to_bits()), 32),
        (IpAddr::V6(a), IpAddr::V6(b)) => (a.to_bits(), b.to_bits(), 128),
        _ => return false,
    };
    match width - bits.min(width) {
        128 => true,
        shift => address >> shift == network >> shift,
    }
}
