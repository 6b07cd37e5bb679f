//! The names by which clients may call the server.
//!
//! A browser lets a page talk to the server of its own name. Whoever owns a name can make it lead to 127.0.0.1 (DNS rebinding), and
//! could then use a server that listens to its own machine only. So such a server answers only if it is called by an address, by
//! `localhost` or by a name that it was given.

use std::net::{IpAddr, SocketAddr};

use hyper::Request;
use hyper::header::HOST;
use hyper::http::uri::Authority;

/// See the [module](self).
pub struct Hosts {
    /// Names besides `localhost`; `None` if every name will do.
    names: Option<Vec<String>>,
}

impl Hosts {
    /// Allows these names, or every name if there are none and the server listens to other machines, too.
    pub fn new(bind: SocketAddr, names: Vec<String>) -> Hosts {
        let is_open = names.is_empty() && !bind.ip().is_loopback();
        Hosts { names: (!is_open).then_some(names) }
    }

    /// Returns the name that a request calls the server by, if it is not allowed. A request that names no host is.
    pub fn refused<'a, T>(&self, request: &'a Request<T>) -> Option<&'a str> {
        let header = || request.headers().get(HOST).map(|host| host.to_str().unwrap_or("?"));
        // A request without it comes from no browser.
        let called = request.uri().authority().map(Authority::as_str).or_else(header)?;
        (!self.allow(called)).then_some(called)
    }

    fn allow(&self, called: &str) -> bool {
        let Some(names) = &self.names else { return true };
        // A user's name may stand before a host, but not in this header: what follows it is not what the client called.
        let authority = called.parse::<Authority>().ok().filter(|_| !called.contains('@'));
        let Some(called) = authority else { return false };
        let host = called.host().trim_end_matches('.');
        let address = host.trim_start_matches('[').trim_end_matches(']');
        let is = |name: &str| host.eq_ignore_ascii_case(name.trim_end_matches('.'));
        address.parse::<IpAddr>().is_ok() || is("localhost") || names.iter().any(|name| is(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_others_are_refused() {
        let local: SocketAddr = "127.0.0.1:3000".parse().unwrap();
        let hosts = Hosts::new(local, vec!["tours.example".to_owned()]);
        for called in [
            "localhost",
            "LocalHost:3000",
            "127.0.0.1:3000",
            "[::1]:3000",
            "10.0.0.7",
            "tours.example.",
            "Tours.Example:80",
        ] {
            assert!(hosts.allow(called), "{called}");
        }
        for called in [
            "",
            "evil.example",
            "localhost.evil.example",
            "127.0.0.1.evil.example:3000",
            "a b",
            "evil:80@localhost",
            "@127.0.0.1",
            "tours.example.evil",
        ] {
            assert!(!hosts.allow(called), "{called}");
        }
    }

    #[test]
    fn a_server_for_all_machines_has_every_name_until_it_is_given_some() {
        let all: SocketAddr = "0.0.0.0:3000".parse().unwrap();
        assert!(Hosts::new(all, Vec::new()).allow("anything"));
        let given = Hosts::new(all, vec!["antwarp".to_owned()]);
        assert!(given.allow("antwarp:3000") && !given.allow("anything"));
    }
}
