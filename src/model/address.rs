//! Where servers are: joining base addresses and paths as people write them. Pure.

use std::net::{IpAddr, Ipv6Addr};

/// Why no server can be at `base`; `None`: one can. Shows nothing that stands before an `@`.
pub(super) fn fault(base: &str) -> Option<String> {
    let rest = match base.split_once("://") {
        Some((scheme, rest)) if is_spoken(scheme) => Some(rest),
        Some(_) => return Some("it begins with neither http:// nor https://".to_owned()),
        None => None,
    };
    let (host, port) = host_and_port(server(base));
    if base.contains(['?', '#']) {
        Some("it has a query or a fragment, after which no path can be added".to_owned())
    } else if host.is_empty() {
        Some("it names no host".to_owned())
    } else if let Some(port) = port.filter(|port| !is_port(port)) {
        Some(format!("{port:?} is no port"))
    } else if rest.is_none() && port.is_none() && !host.contains('.') && !is_loopback(host) {
        Some("it begins with neither http:// nor https://".to_owned())
    } else if with_scheme(base).parse::<ureq::http::Uri>().is_err() {
        Some("it is no URL".to_owned())
    } else {
        None
    }
}

fn is_spoken(scheme: &str) -> bool {
    ["http", "https"]
        .iter()
        .any(|spoken| scheme.eq_ignore_ascii_case(spoken))
}

fn is_port(port: &str) -> bool {
    port.bytes().all(|byte| byte.is_ascii_digit()) && port.parse::<u16>().is_ok_and(|port| port > 0)
}

/// An address in brackets keeps them.
fn host_and_port(server: &str) -> (&str, Option<&str>) {
    let end = server.rfind(']').map_or(0, |at| at + 1);
    match server[end..].find(':') {
        Some(at) => (&server[..end + at], Some(&server[end + at + 1..])),
        None => (server, None),
    }
}

/// The Messages endpoint under `base`, which names no `/v1` but may.
pub(super) fn anthropic(base: &str) -> String {
    let base = with_scheme(base);
    let base = base.trim_end_matches('/');
    let base = base.strip_suffix("/v1").unwrap_or(base);
    format!("{}/v1/messages", base.trim_end_matches('/'))
}

/// The Chat Completions endpoint under `base`, which names its `/v1` or whatever the server has instead.
pub(super) fn openai(base: &str) -> String {
    let base = with_scheme(base);
    let base = base.trim_end_matches('/');
    if base.ends_with("/chat/completions") {
        return base.to_owned();
    }
    let path = base.split_once("://").and_then(|(_, rest)| rest.find('/'));
    match path {
        Some(_) => format!("{base}/chat/completions"),
        None => format!("{base}/v1/chat/completions"),
    }
}

/// The list of models beside the Chat Completions endpoint `url`.
pub(super) fn models(url: &str) -> String {
    let base = url.strip_suffix("/chat/completions").unwrap_or(url);
    format!("{base}/models")
}

/// What is known of `model` beside the Messages endpoint `url`.
pub(super) fn model(url: &str, model: &str) -> String {
    let base = url.strip_suffix("/messages").unwrap_or(url);
    format!("{base}/models/{model}")
}

/// The root of an Ollama server from `OLLAMA_HOST`, which may lack scheme and port and may be an address to bind to.
pub(super) fn ollama(host: Option<&str>) -> String {
    const PORT: u16 = 11434;
    let given = host.map_or("", str::trim).trim_end_matches('/');
    if given.parse::<Ipv6Addr>().is_ok() {
        return ollama(Some(&format!("[{given}]")));
    }
    let (scheme, rest) = given.split_once("://").unwrap_or(("http", given));
    let (authority, path) = match rest.find('/') {
        Some(at) => rest.split_at(at),
        None => (rest, ""),
    };
    let (name, port) = host_and_port(authority);
    let port = match (port, scheme) {
        (Some(port), _) => port.to_owned(),
        (None, "https") => "443".to_owned(),
        (None, _) => PORT.to_string(),
    };
    let name = match name {
        "" | "0.0.0.0" => "127.0.0.1",
        "[::]" => "[::1]",
        name => name,
    };
    let path = path.strip_suffix("/v1").unwrap_or(path);
    format!("{scheme}://{name}:{port}{path}")
}

/// `host[:port]` of an address, without whatever stands before an `@`.
pub(super) fn server(url: &str) -> &str {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next().unwrap_or(rest);
    authority
        .rsplit_once('@')
        .map_or(authority, |(_, host)| host)
}

/// What stands before an `@`, such as a password.
pub(super) fn login(url: &str) -> Option<&str> {
    let rest = url.split_once("://").map_or(url, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#']).next()?;
    authority.rsplit_once('@').map(|(login, _)| login)
}

/// Whether an address is this machine's own, where no proxy has any business.
pub(super) fn is_loopback(url: &str) -> bool {
    let server = server(url);
    let (host, _) = host_and_port(server);
    let host = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

fn with_scheme(base: &str) -> String {
    let base = base.trim();
    if base.contains("://") {
        base.to_owned()
    } else if is_loopback(base) {
        format!("http://{base}")
    } else {
        format!("https://{base}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bases_are_joined_however_they_are_written() {
        for (base, url) in [
            (
                "https://api.anthropic.com",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "https://api.anthropic.com/v1/",
                "https://api.anthropic.com/v1/messages",
            ),
            (
                "https://api.z.ai/api/anthropic//",
                "https://api.z.ai/api/anthropic/v1/messages",
            ),
            (" 127.0.0.1:80 ", "http://127.0.0.1:80/v1/messages"),
            ("proxy.example", "https://proxy.example/v1/messages"),
        ] {
            assert_eq!(anthropic(base), url, "{base}");
        }
        for (base, url) in [
            (
                "https://api.openai.com/v1",
                "https://api.openai.com/v1/chat/completions",
            ),
            (
                "http://localhost:8080",
                "http://localhost:8080/v1/chat/completions",
            ),
            (
                "http://localhost:8080/",
                "http://localhost:8080/v1/chat/completions",
            ),
            (
                "https://api.z.ai/api/paas/v4",
                "https://api.z.ai/api/paas/v4/chat/completions",
            ),
            (
                "http://h/v1/chat/completions/",
                "http://h/v1/chat/completions",
            ),
            (
                "localhost:1234/v1",
                "http://localhost:1234/v1/chat/completions",
            ),
        ] {
            assert_eq!(openai(base), url, "{base}");
        }
    }

    #[test]
    fn an_address_where_no_server_can_be_is_told_from_others() {
        for (base, why) in [
            ("http://host:99999", "\"99999\" is no port"),
            ("http://host:1x/v1", "\"1x\" is no port"),
            ("http://host:0", "\"0\" is no port"),
            ("http://host:/v1", "\"\" is no port"),
            ("http://[::1]:x", "\"x\" is no port"),
            ("a:b:1", "\"b:1\" is no port"),
            ("ftp://host", "neither http:// nor https://"),
            ("unix:///run/x", "neither http:// nor https://"),
            ("foo", "neither http:// nor https://"),
            ("sk-a-key", "neither http:// nor https://"),
            ("http://", "names no host"),
            ("http:///v1", "names no host"),
            (":80", "names no host"),
            ("https://me:pw@/v1", "names no host"),
            ("http://h/v1?version=1", "a query"),
            ("http://h/v1#x", "a fragment"),
            ("http://a b/v1", "no URL"),
            ("http://[::1/v1", "\":1\" is no port"),
        ] {
            let fault = fault(base).unwrap_or_default();
            assert!(fault.contains(why), "{base}: {fault:?}");
            assert!(!fault.contains("pw"), "{fault}");
        }
        for base in [
            "http://h",
            "HTTPS://h:1/v1",
            "https://me:p:w@h/v1",
            "http://[::1]:80",
            "http://[::1]",
            "localhost",
            "127.0.0.1",
            "box:80/v1",
            "proxy.example",
        ] {
            assert_eq!(fault(base), None, "{base}");
        }
    }

    #[test]
    fn models_are_listed_beside_the_endpoint() {
        assert_eq!(
            models(&openai("https://api.z.ai/api/paas/v4")),
            "https://api.z.ai/api/paas/v4/models"
        );
        assert_eq!(model(&anthropic("http://h"), "m"), "http://h/v1/models/m");
    }

    #[test]
    fn ollamas_host_may_be_nearly_anything() {
        for (host, url) in [
            (None, "http://127.0.0.1:11434"),
            (Some(""), "http://127.0.0.1:11434"),
            (Some("0.0.0.0"), "http://127.0.0.1:11434"),
            (Some("0.0.0.0:99"), "http://127.0.0.1:99"),
            (Some(":99"), "http://127.0.0.1:99"),
            (Some("[::]:99"), "http://[::1]:99"),
            (Some("[::1]"), "http://[::1]:11434"),
            (Some("::1"), "http://[::1]:11434"),
            (Some("::"), "http://[::1]:11434"),
            (Some("box"), "http://box:11434"),
            (Some("http://box:8000/"), "http://box:8000"),
            (Some("https://ollama.com"), "https://ollama.com:443"),
            (Some("http://box/sub/v1"), "http://box:11434/sub"),
        ] {
            assert_eq!(ollama(host), url, "{host:?}");
        }
    }

    #[test]
    fn servers_are_named_without_what_stands_before_them() {
        assert_eq!(server("https://me:pw@h:1/v1?x#y"), "h:1");
        assert_eq!(server("h"), "h");
        assert_eq!(login("https://me:pw@h:1/v1?x#y"), Some("me:pw"));
        assert_eq!(login("https://h/@x"), None);
        for local in [
            "http://localhost:1/x",
            "http://127.0.0.9",
            "http://[::1]:80/",
        ] {
            assert!(is_loopback(local), "{local}");
        }
        for other in [
            "http://localhost.example",
            "https://10.0.0.1",
            "http://[fe80::1]",
        ] {
            assert!(!is_loopback(other), "{other}");
        }
    }
}
