//! What any provider would refuse, checked on the bytes of every request.

use std::collections::HashSet;

use serde_json::Value;

use super::ask::{Ask, Protocol, list, word};
use super::wire::Request;

/// Everything that is wrong with a request.
pub(super) fn request(request: &Request, ask: &Ask) -> Vec<String> {
    let mut found = Found(Vec::new());
    if serde_json::from_slice::<Value>(&request.body).is_err() {
        found.say("the body is no JSON");
    }
    headers(request, ask, &mut found);
    let body = &ask.body;
    found.unless(body["stream"] == true, "no stream is asked for");
    found.unless(!ask.model.is_empty(), "no model");
    for key in ["temperature", "top_p", "top_k", "tool_choice", "thinking"] {
        found.unless(body.get(key).is_none(), &format!("{key} is sent"));
    }
    match ask.protocol {
        Protocol::Anthropic => anthropic(body, &mut found),
        Protocol::OpenAi => openai(body, &mut found),
    }
    found.0
}

struct Found(Vec<String>);

impl Found {
    fn say(&mut self, what: &str) {
        self.0.push(what.to_owned());
    }

    fn unless(&mut self, holds: bool, what: &str) {
        if !holds {
            self.say(what);
        }
    }
}

fn headers(request: &Request, ask: &Ask, found: &mut Found) {
    let header = |name: &str| request.header(name).unwrap_or_default();
    let user_agent = format!("pitcrew/{} ({})", env!("CARGO_PKG_VERSION"), ask.agent);
    found.unless(
        header("user-agent") == user_agent && !ask.agent.is_empty(),
        &format!("user-agent {:?}", header("user-agent")),
    );
    found.unless(header("content-type") == "application/json", "content-type");
    found.unless(header("accept-encoding") == "identity", "accept-encoding");
    let key = !header("x-api-key").is_empty();
    let bearer = header("authorization").starts_with("Bearer ");
    match ask.protocol {
        Protocol::Anthropic => {
            found.unless(key != bearer, "x-api-key and authorization: one of them");
            found.unless(header("anthropic-version") == "2023-06-01", "version");
        }
        Protocol::OpenAi => found.unless(!key, "x-api-key"),
    }
}

/// The calls of the message before that have no result yet, in either protocol.
type Open = HashSet<String>;

fn anthropic(body: &Value, found: &mut Found) {
    found.unless(
        body["max_tokens"].as_u64().is_some_and(|n| n > 0),
        "max_tokens",
    );
    let marks = body.to_string().matches("\"cache_control\"").count();
    found.unless((1..=4).contains(&marks), &format!("{marks} cache marks"));
    for block in list(&body["system"]) {
        found.unless(!blank(&block["text"]), "a blank system text");
    }
    let messages = list(&body["messages"]);
    let mut ids = HashSet::new();
    let mut open = Open::new();
    for (at, message) in messages.iter().enumerate() {
        let expected = if at % 2 == 0 { "user" } else { "assistant" };
        found.unless(
            message["role"] == expected,
            &format!("message {at}: the role"),
        );
        let content = list(&message["content"]);
        found.unless(!content.is_empty(), &format!("message {at}: no content"));
        let fault = if message["role"] == "user" {
            anthropic_user(content, std::mem::take(&mut open))
        } else {
            anthropic_assistant(content, &mut ids).map(|asked| open = asked)
        };
        if let Err(fault) = fault {
            found.say(&format!("message {at}: {fault}"));
        }
    }
    let last = messages.last().map(|message| word(&message["role"]));
    found.unless(
        last.as_deref() == Some("user"),
        "the last message is not the user's",
    );
    tools(
        body,
        !ids.is_empty(),
        |tool| &tool["name"],
        |tool| &tool["input_schema"],
        found,
    );
}

fn anthropic_user(content: &[Value], mut open: Open) -> Result<(), String> {
    let mut texts = 0;
    for block in content {
        match block["type"].as_str() {
            Some("tool_result") => {
                let id = word(&block["tool_use_id"]);
                if texts > 0 {
                    return Err(format!("the result of {id} after a text"));
                }
                if !open.remove(&id) {
                    return Err(format!("a result of {id}, which was not asked or has one"));
                }
                if blank(&block["content"]) {
                    return Err(format!("a blank result of {id}"));
                }
            }
            Some("text") if !blank(&block["text"]) => texts += 1,
            other => return Err(format!("a user's block {other:?} or blank text")),
        }
    }
    all_answered(open)
}

fn anthropic_assistant(content: &[Value], ids: &mut HashSet<String>) -> Result<Open, String> {
    let mut open = Open::new();
    for block in content {
        match block["type"].as_str() {
            Some("text") if !blank(&block["text"]) => {}
            Some("tool_use") => {
                let id = word(&block["id"]);
                if !fits(&id) || !ids.insert(id.clone()) {
                    return Err(format!("the id {id:?}"));
                }
                if !block["input"].is_object() || !fits(&word(&block["name"])) {
                    return Err(format!("the name or input of {id}"));
                }
                open.insert(id);
            }
            Some("thinking") if block["signature"].is_string() => {}
            Some("redacted_thinking") if block["data"].is_string() => {}
            other => return Err(format!("an assistant's block {other:?} or blank text")),
        }
    }
    let last = content.last().map(|block| word(&block["type"]));
    if last.is_some_and(|kind| kind.ends_with("thinking")) {
        return Err("thinking at the end".to_owned());
    }
    Ok(open)
}

fn openai(body: &Value, found: &mut Found) {
    let messages = list(&body["messages"]);
    let mut called = false;
    let mut open = Open::new();
    let mut before = "";
    for (at, message) in messages.iter().enumerate() {
        let role = message["role"].as_str().unwrap_or_default();
        if !open.is_empty() && role != "tool" {
            found.say(&format!("message {at}: {open:?} have no results"));
            open.clear();
        }
        let fault = match (role, before) {
            ("system", _) if at > 0 => Err("a late system message".to_owned()),
            ("system" | "user", _) if blank(&message["content"]) => Err("blank text".to_owned()),
            ("user", "user") => Err("two user messages".to_owned()),
            ("assistant", "assistant" | "system" | "") => Err("the role".to_owned()),
            ("assistant", _) => openai_assistant(message).map(|asked| {
                called |= !asked.is_empty();
                open = asked;
            }),
            ("tool", _) => {
                let id = word(&message["tool_call_id"]);
                if !open.remove(&id) {
                    Err(format!("a result of {id}, which was not asked or has one"))
                } else if blank(&message["content"]) {
                    Err(format!("a blank result of {id}"))
                } else {
                    Ok(())
                }
            }
            ("system" | "user", _) => Ok(()),
            (other, _) => Err(format!("the role {other:?}")),
        };
        if let Err(fault) = fault {
            found.say(&format!("message {at}: {fault}"));
        }
        before = role;
    }
    found.unless(open.is_empty(), "calls without results at the end");
    found.unless(
        matches!(before, "user" | "tool"),
        "the last message is not the user's",
    );
    tools(
        body,
        called,
        |tool| &tool["function"]["name"],
        |tool| &tool["function"]["parameters"],
        found,
    );
}

fn openai_assistant(message: &Value) -> Result<Open, String> {
    let mut open = Open::new();
    for call in list(&message["tool_calls"]) {
        let id = word(&call["id"]);
        if !fits(&id) || !open.insert(id.clone()) || call["type"] != "function" {
            return Err(format!("the call {id:?}"));
        }
        let arguments = call["function"]["arguments"].as_str().unwrap_or_default();
        let arguments = serde_json::from_str::<Value>(arguments);
        if !arguments.is_ok_and(|arguments| arguments.is_object()) {
            return Err(format!("the arguments of {id}"));
        }
        if !fits(&word(&call["function"]["name"])) {
            return Err(format!("the name of {id}"));
        }
    }
    if open.is_empty() && blank(&message["content"]) {
        return Err("an empty reply".to_owned());
    }
    Ok(open)
}

fn tools<'a>(
    body: &'a Value,
    called: bool,
    name: impl Fn(&'a Value) -> &'a Value,
    schema: impl Fn(&'a Value) -> &'a Value,
    found: &mut Found,
) {
    let Some(offered) = body.get("tools") else {
        found.unless(!called, "calls, but no tools");
        return;
    };
    found.unless(!list(offered).is_empty(), "an empty list of tools");
    let mut names = HashSet::new();
    for tool in list(offered) {
        let name = word(name(tool));
        found.unless(fits(&name) && names.insert(name), "a tool's name");
        found.unless(schema(tool)["type"] == "object", "a tool's schema");
    }
}

fn all_answered(open: Open) -> Result<(), String> {
    match open.into_iter().next() {
        Some(id) => Err(format!("{id} has no result")),
        None => Ok(()),
    }
}

fn blank(text: &Value) -> bool {
    text.as_str().is_none_or(|text| text.trim().is_empty())
}

fn fits(name: &str) -> bool {
    (1..=64).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')
}

/// The checks check: each of these would pass if a rule were missing.
#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn found(path: &str, messages: &Value) -> Vec<String> {
        let tools = match path {
            "/v1/messages" => json!([{"name": "ls", "input_schema": {"type": "object"}}]),
            _ => json!([{"function": {"name": "ls", "parameters": {"type": "object"}}}]),
        };
        let body = json!({"model": "m", "max_tokens": 1, "stream": true, "tools": tools, "messages": messages,
            "system": [{"type": "text", "text": "s", "cache_control": {}}]});
        let agent = format!("pitcrew/{} (a)", env!("CARGO_PKG_VERSION"));
        let headers = [
            ("user-agent", agent.as_str()),
            ("content-type", "application/json"),
            ("accept-encoding", "identity"),
            ("authorization", "Bearer k"),
            ("anthropic-version", "2023-06-01"),
        ];
        let sent = Request {
            path: path.to_owned(),
            headers: headers
                .map(|(name, value)| (name.to_owned(), value.to_owned()))
                .into(),
            body: body.to_string().into_bytes(),
            came: pitcrew::clock::instant(),
        };
        request(&sent, &Ask::read(&sent).unwrap())
    }

    #[test]
    fn anthropic_conversations_are_judged() {
        let text = |role: &str, text: &str| json!({"role": role, "content": [{"type": "text", "text": text}]});
        let call = |id: &str| json!({"type": "tool_use", "id": id, "name": "ls", "input": {}});
        let result = |id: &str| json!({"type": "tool_result", "tool_use_id": id, "content": "x"});
        let words = json!({"type": "text", "text": "x"});
        let on = |asked: Value, answered: Value| json!([text("user", "go"), {"role": "assistant", "content": asked}, {"role": "user", "content": answered}]);
        let judged = |messages: &Value| found("/v1/messages", messages);
        let good = on(
            json!([call("a"), call("b")]),
            json!([result("b"), result("a"), words]),
        );
        assert_eq!(judged(&good), Vec::<String>::new());
        for bad in [
            json!([]),
            json!([text("user", " ")]),
            json!([text("user", "a"), text("user", "b")]),
            json!([text("user", "a"), text("assistant", "b")]),
            on(json!([]), json!([words])),
            on(json!([call("a")]), json!([words])),
            on(json!([call("a")]), json!([words, result("a")])),
            on(json!([call("a")]), json!([result("a"), result("a")])),
            on(json!([call("a")]), json!([result("a"), result("b")])),
            on(json!([call("a"), call("a")]), json!([result("a")])),
            on(json!([call("a:")]), json!([result("a:")])),
            on(
                json!([{"type": "tool_use", "id": "a", "name": "ls", "input": "{}"}]),
                json!([result("a")]),
            ),
            on(
                json!([words, {"type": "thinking", "thinking": "", "signature": ""}]),
                json!([words]),
            ),
        ] {
            assert!(!judged(&bad).is_empty(), "{bad}");
        }
    }

    #[test]
    fn openai_conversations_are_judged() {
        let text = |role: &str, text: &str| json!({"role": role, "content": text});
        let call = |id: &str, arguments: &str| {
            json!({"role": "assistant", "content": "", "tool_calls": [
                {"id": id, "type": "function", "function": {"name": "ls", "arguments": arguments}},
            ]})
        };
        let result = |id: &str| json!({"role": "tool", "tool_call_id": id, "content": "x"});
        let judged = |messages: &Value| found("/v1/chat/completions", messages);
        let (system, go) = (text("system", "s"), text("user", "go"));
        let good = json!([system, go, call("a", "{}"), result("a"), text("user", "x")]);
        assert_eq!(judged(&good), Vec::<String>::new());
        for bad in [
            json!([]),
            json!([go, system]),
            json!([system, text("user", "")]),
            json!([go, go]),
            json!([system, text("assistant", "x"), go]),
            json!([go, text("assistant", "x")]),
            json!([go, text("assistant", ""), go]),
            json!([go, call("a", "{}")]),
            json!([go, call("a", "{}"), go]),
            json!([go, call("a", "{}"), result("b")]),
            json!([go, call("a", "{}"), result("a"), result("a")]),
            json!([go, call("a", "{"), result("a")]),
            json!([go, call("a", "[]"), result("a")]),
            json!([go, result("a")]),
        ] {
            assert!(!judged(&bad).is_empty(), "{bad}");
        }
    }
}
