//! One call over HTTP: post, read the stream, hand each event to the protocol, and demand an end.

use serde_json::Value;

use super::Progress;
use super::failure::Failure;
use super::http::{Http, Incoming, Post};
use super::sse::Parser;
use crate::cancel::Cancel;

/// Largest answer that is no stream, in bytes.
const LARGEST_BODY: usize = 1024 * 1024;

/// A protocol's reply as its events build it up.
pub(super) trait Building {
    /// Takes one event in; whether the reply is whole and nothing more is wanted.
    fn event(&mut self, data: &[u8], on: &mut dyn FnMut(Progress)) -> Result<bool, Failure>;

    /// Whether the reply may end here, where the stream has ended without [`Self::event`] saying so.
    fn may_end(&self) -> bool;
}

/// Brings the next bytes, none at the end; told whether what came so far may have been all.
type Next<'a> = &'a mut dyn FnMut(bool) -> Result<Option<Vec<u8>>, Failure>;

/// Posts and reads until `reply` is whole.
pub(super) fn run(
    http: &mut Http,
    post: Post,
    reply: &mut dyn Building,
    cancel: &Cancel,
    on: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let incoming = http.post(post, cancel)?;
    if !incoming.begun()? {
        return whole(&incoming, reply, on);
    }
    if read(&mut |last| incoming.next(last), reply, on)? {
        incoming.finish();
    }
    Ok(())
}

/// Reads events until the reply is whole; whether it was before the stream's end. One that may not end where the stream
/// does is an error.
fn read(
    next: Next<'_>,
    reply: &mut dyn Building,
    on: &mut dyn FnMut(Progress),
) -> Result<bool, Failure> {
    match events(next, reply, on) {
        Ok(true) => Ok(true),
        Ok(false) | Err(Failure::Broken(_)) if reply.may_end() => Ok(false),
        Ok(false) => Err(Failure::Broken(
            "the stream ended before its reply did".to_owned(),
        )),
        Err(failure) => Err(failure),
    }
}

fn events(
    next: Next<'_>,
    reply: &mut dyn Building,
    on: &mut dyn FnMut(Progress),
) -> Result<bool, Failure> {
    let mut parser = Parser::default();
    let too_long = |error: super::sse::TooLong| Failure::Broken(error.to_string());
    while let Some(bytes) = next(reply.may_end())? {
        for event in parser.push(&bytes).map_err(too_long)? {
            if reply.event(&event, on)? {
                return Ok(true);
            }
        }
    }
    match parser.finish().map_err(too_long)? {
        Some(event) => reply.event(&event, on),
        None => Ok(false),
    }
}

/// Reads a recorded stream: what a protocol makes of it.
#[cfg(test)]
pub(super) fn recorded(stream: &[u8], reply: &mut dyn Building) -> Result<(), Failure> {
    let mut rest = Some(stream.to_vec());
    read(&mut |_| Ok(rest.take()), reply, &mut |_| {}).map(drop)
}

/// A good status with a body that is no stream: some servers tell failures so, and some never stream.
fn whole(
    incoming: &Incoming,
    reply: &mut dyn Building,
    on: &mut dyn FnMut(Progress),
) -> Result<(), Failure> {
    let mut body = Vec::new();
    while body.len() < LARGEST_BODY {
        match incoming.next(false)? {
            Some(bytes) => body.extend(bytes),
            None => break,
        }
    }
    let no_reply = || Failure::Broken("the server answered with what is no reply".to_owned());
    let value: Value = serde_json::from_slice(&body).map_err(|_| no_reply())?;
    if value.get("error").is_some_and(|error| !error.is_null()) {
        return Err(Failure::Told(value));
    }
    if reply.event(&body, on)? || reply.may_end() {
        Ok(())
    } else {
        Err(no_reply())
    }
}

/// An event's data as JSON.
pub(super) fn json(data: &[u8]) -> Result<Value, Failure> {
    serde_json::from_slice(data).map_err(|error| {
        let head = String::from_utf8_lossy(&data[..data.len().min(80)]);
        Failure::Broken(format!(
            "the stream carries what is no JSON: {error}: {head}"
        ))
    })
}
