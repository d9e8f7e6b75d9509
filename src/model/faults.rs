//! How an exchange over HTTP fails, from what the library and the server's head say of it.

use std::io::Read;

use super::address;
use super::failure::{self, Answer, Failure};
use super::said::Said;

/// Most bytes of a failed answer that are read.
const ERROR_BODY: u64 = 64 * 1024;

type Head = ureq::http::response::Parts;

fn header<'a>(head: &'a Head, name: &str) -> Option<&'a str> {
    head.headers.get(name)?.to_str().ok()
}

/// Whether an event stream follows a good head, or some other body; what nobody could read is a fault.
pub(super) fn is_stream(head: &Head, server: &str) -> Result<bool, Failure> {
    if let Some(coding) = coding(head) {
        return Err(Failure::Unreachable(format!(
            "the answer of {server} is compressed ({coding}), though it was asked not to be"
        )));
    }
    let kind = header(head, "content-type").unwrap_or_default();
    if kind.contains("text/html") {
        return Err(Failure::Unreachable(format!(
            "{server} answered with a web page instead of a reply"
        )));
    }
    Ok(!kind.contains("json"))
}

fn coding(head: &Head) -> Option<&str> {
    header(head, "content-encoding")
        .map(str::trim)
        .filter(|coding| !coding.is_empty() && !coding.eq_ignore_ascii_case("identity"))
}

/// An answer that is no success.
pub(super) fn answer(head: &Head, body: ureq::Body) -> Answer {
    let mut bytes = Vec::new();
    // What can be read of a failed answer is enough; that it broke off says nothing new.
    drop(body.into_reader().take(ERROR_BODY).read_to_end(&mut bytes));
    Answer {
        status: head.status.as_u16(),
        after: failure::retry_after(header(head, "retry-after-ms"), header(head, "retry-after")),
        should_retry: match header(head, "x-should-retry") {
            Some("true") => Some(true),
            Some("false") => Some(false),
            _ => None,
        },
        request_id: header(head, "request-id")
            .or_else(|| header(head, "x-request-id"))
            .map(str::to_owned),
        location: header(head, "location").map(str::to_owned),
        said: match coding(head) {
            Some(_) => Said::default(),
            None => Said::from_body(&bytes),
        },
    }
}

/// No head came.
pub(super) fn failed(error: &ureq::Error, url: &str) -> Failure {
    let server = address::server(url);
    match error {
        ureq::Error::HostNotFound => Failure::Unreachable(format!("no host of {server} was found")),
        ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::PerWrite) => {
            Failure::Broken(format!("{server} did not answer in time"))
        }
        ureq::Error::Timeout(_) => {
            Failure::Unreachable(format!("no connection to {server} in time"))
        }
        ureq::Error::Io(error) => disconnected(error, server, url.starts_with("https")),
        ureq::Error::Protocol(error) => {
            Failure::Unreachable(format!("what {server} says is no HTTP: {error}"))
        }
        ureq::Error::ConnectionFailed | ureq::Error::ConnectProxyFailed(_) => {
            Failure::Unreachable(format!("no connection to {server}: {error}"))
        }
        _ => Failure::Impossible(format!("cannot ask {server}: {error}")),
    }
}

/// Whether the server closed the connection before it said anything.
pub(super) fn is_hanging_up(error: &ureq::Error) -> bool {
    let ureq::Error::Io(error) = error else {
        return false;
    };
    closes(error.kind())
}

fn closes(kind: std::io::ErrorKind) -> bool {
    use std::io::ErrorKind as Kind;
    matches!(
        kind,
        Kind::ConnectionReset | Kind::BrokenPipe | Kind::UnexpectedEof
    )
}

/// Before the answer's head has come.
fn disconnected(error: &std::io::Error, server: &str, is_secure: bool) -> Failure {
    match error.kind() {
        // What is no TLS, or no certificate to be trusted, is the same the next time.
        std::io::ErrorKind::InvalidData if is_secure => {
            Failure::Impossible(format!("no secure connection to {server}: {error}"))
        }
        kind if closes(kind) => {
            Failure::Unreachable(format!("{server} closed the connection: {error}"))
        }
        _ => Failure::Unreachable(format!("no connection to {server}: {error}")),
    }
}

/// A head came, but not all that should follow it.
pub(super) fn of_stream(error: &std::io::Error) -> String {
    let timeout = error
        .get_ref()
        .and_then(|inner| inner.downcast_ref::<ureq::Error>())
        .is_some_and(|inner| matches!(inner, ureq::Error::Timeout(_)));
    if timeout {
        "the stream stalled".to_owned()
    } else {
        format!("the stream broke: {error}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_be_there_later_is_told_from_what_will_not() {
        use std::io::ErrorKind as Kind;
        let of = |error: ureq::Error| match failed(&error, "https://me:pw@h:1/v1") {
            Failure::Unreachable(why) => (true, why),
            Failure::Impossible(why) => (false, why),
            other => panic!("{other:?}"),
        };
        let io = |kind: Kind| of(ureq::Error::Io(kind.into()));
        for (later, why) in [
            of(ureq::Error::HostNotFound),
            of(ureq::Error::Timeout(ureq::Timeout::Connect)),
            of(ureq::Error::ConnectionFailed),
            io(Kind::ConnectionRefused),
            io(Kind::ConnectionReset),
            io(Kind::NetworkUnreachable),
        ] {
            assert!(later && why.contains("h:1") && !why.contains("pw"), "{why}");
        }
        for (later, why) in [io(Kind::InvalidData), of(ureq::Error::Tls("none"))] {
            assert!(!later && why.contains("h:1"), "{why}");
        }
    }
}
