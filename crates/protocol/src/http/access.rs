//! Who may speak to a player.
//!
//! A web page can make a browser send requests to any address, also to a player on the same machine. So only a POST has
//! effects; a request with an `Origin` that is not on the list is refused, because browsers name the origin with every POST
//! and managers never do; and on loopback the `Host` must be a name that no page can have, or a page whose name was pointed
//! to this machine would count as its own origin. INFO may be asked by anybody.
//!
//! - W3C 2020, Fetch (the `Origin` header and its guarantees)
//! - Jackson, Barth, Bortz, Shao and Boneh 2007, Protecting Browsers from DNS Rebinding Attacks

use std::net::Ipv6Addr;

use super::read::{Method, RequestHead};

/// Who may speak to a player, apart from managers without a browser.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Access {
    /// Origins of web pages that may send everything, such as `http://localhost:8147`.
    pub origins: Vec<String>,
    /// If there is one, every POST must have it: `Authorization: Bearer SECRET`.
    pub secret: Option<String>,
}

/// Why a request is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refusal {
    Origin,
    Host,
    Secret,
}

impl Refusal {
    pub(super) fn status(self) -> &'static str {
        match self {
            Refusal::Origin | Refusal::Host => "403 Forbidden",
            Refusal::Secret => "401 Unauthorized",
        }
    }

    pub(super) fn reason(self) -> &'static str {
        match self {
            Refusal::Origin => "web pages of this origin may not speak to this player",
            Refusal::Host => "the Host header does not name this machine",
            Refusal::Secret => "this player needs its secret: Authorization: Bearer SECRET",
        }
    }
}

impl Access {
    /// Whether a request may be read further. A GET can only ask for INFO, so it may come from anywhere.
    pub(super) fn check(&self, head: &RequestHead, is_loopback: bool) -> Result<(), Refusal> {
        if is_loopback && head.host.as_deref().is_some_and(|host| !is_local(host)) {
            return Err(Refusal::Host);
        }
        if head.method != Method::Post {
            return Ok(());
        }
        if head.origin.is_some() && self.allowed(head).is_none() {
            return Err(Refusal::Origin);
        }
        let given = head.secret.as_deref().unwrap_or_default();
        match &self.secret {
            Some(secret) if !is_same(secret, given) => Err(Refusal::Secret),
            _ => Ok(()),
        }
    }

    /// The origin of a request, if it is on the list.
    pub(super) fn allowed<'h>(&self, head: &'h RequestHead) -> Option<&'h str> {
        let origin = head.origin.as_deref()?;
        let is_listed = |listed: &String| listed.trim_end_matches('/').eq_ignore_ascii_case(origin);
        self.origins.iter().any(is_listed).then_some(origin)
    }
}

/// Whether a `Host` header can only mean this machine or one in its own network: a loopback address, or a name without a
/// dot, which cannot be registered.
fn is_local(host: &str) -> bool {
    let name = match host.strip_prefix('[') {
        Some(rest) => rest.split(']').next().unwrap_or_default(),
        None => host.split(':').next().unwrap_or_default(),
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let is_loopback_6 = |ip: Ipv6Addr| ip.is_loopback();
    let is_loopback_4 = |ip: std::net::Ipv4Addr| ip.is_loopback() || ip.is_unspecified();
    if host.starts_with('[') {
        return name.parse().is_ok_and(is_loopback_6);
    }
    match name.parse() {
        Ok(ip) => is_loopback_4(ip),
        Err(_) => !name.contains('.') || name.ends_with(".localhost"),
    }
}

/// Compares two secrets in time that does not depend on where they differ.
fn is_same(secret: &str, given: &str) -> bool {
    let pairs = secret.bytes().zip(given.bytes());
    let difference = pairs.fold(0, |difference, (one, other)| difference | (one ^ other));
    secret.len() == given.len() && difference == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::Limits;
    use crate::http::read::read_head;

    fn check(access: &Access, request: &str, expected: Result<(), Refusal>) {
        let request = format!("{request}\r\n\r\n");
        let head = read_head(&mut request.as_bytes(), &Limits::default()).expect("it is HTTP");
        assert_eq!(access.check(&head, true), expected, "{request}");
    }

    #[test]
    fn managers_may_speak_and_pages_may_not() {
        let closed = Access::default();
        check(&closed, "POST / HTTP/1.0", Ok(()));
        check(&closed, "POST / HTTP/1.0\r\nHost: localhost:9147", Ok(()));
        for origin in ["http://evil.example", "null", "", "http://localhost:8147"] {
            let request = format!("POST / HTTP/1.1\r\nOrigin: {origin}");
            check(&closed, &request, Err(Refusal::Origin));
            let request = format!("GET / HTTP/1.1\r\nOrigin: {origin}");
            check(&closed, &request, Ok(()));
        }
        let open = Access {
            origins: vec!["http://localhost:8147/".to_owned()],
            ..Access::default()
        };
        check(
            &open,
            "POST / HTTP/1.1\r\nOrigin: http://localhost:8147",
            Ok(()),
        );
        let other = "POST / HTTP/1.1\r\nOrigin: http://localhost:81470";
        check(&open, other, Err(Refusal::Origin));
    }

    #[test]
    fn on_loopback_the_host_is_a_name_of_this_machine() {
        for host in [
            "localhost",
            "LOCALHOST:1",
            "127.0.0.1:9147",
            "127.9.9.9",
            "[::1]:9147",
            "tower",
            "a.localhost",
        ] {
            check(
                &Access::default(),
                &format!("POST / HTTP/1.1\r\nHost: {host}"),
                Ok(()),
            );
        }
        for host in [
            "evil.example",
            "evil.example:9147",
            "10.0.0.1",
            "[fe80::1]:1",
            "127.0.0.1.evil.example",
        ] {
            let request = format!("POST / HTTP/1.1\r\nHost: {host}");
            check(&Access::default(), &request, Err(Refusal::Host));
        }
    }

    #[test]
    fn a_secret_is_needed_for_every_post() {
        let access = Access {
            secret: Some("open sesame".to_owned()),
            ..Access::default()
        };
        check(&access, "POST / HTTP/1.0", Err(Refusal::Secret));
        let wrong = "POST / HTTP/1.0\r\nAuthorization: Bearer open sesam";
        check(&access, wrong, Err(Refusal::Secret));
        check(
            &access,
            "POST / HTTP/1.0\r\nauthorization: bearer open sesame",
            Ok(()),
        );
        check(&access, "GET / HTTP/1.0", Ok(()));
    }
}
