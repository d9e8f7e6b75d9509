//! A request as a handler sees it, the same for both protocols.

use std::time::Instant;

use serde_json::Value;

use super::wire::Request;

/// The protocol of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Protocol {
    Anthropic,
    OpenAi,
}

/// A part of the conversation.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Part {
    /// The user, or the assistant, says something.
    Text(String),
    /// The assistant calls a tool.
    Call {
        id: String,
        name: String,
        input: Value,
    },
    /// A tool's answer. Where the protocol has no flag, a text that begins with `Error: ` is an error.
    Result {
        id: String,
        content: String,
        is_error: bool,
    },
}

/// One message, results and the texts after them together.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Said {
    pub(crate) by_user: bool,
    pub(crate) parts: Vec<Part>,
}

/// A request.
#[derive(Debug, Clone)]
pub(crate) struct Ask {
    pub(crate) protocol: Protocol,
    /// From the `User-Agent`.
    pub(crate) agent: String,
    /// How many requests of this agent came before, tried again ones included.
    pub(crate) turn: usize,
    pub(crate) model: String,
    pub(crate) system: String,
    pub(crate) messages: Vec<Said>,
    /// The names of the tools offered.
    pub(crate) tools: Vec<String>,
    /// The whole body.
    pub(crate) body: Value,
    /// When it had come, whole.
    pub(crate) came: Instant,
}

impl Ask {
    /// How many replies the conversation holds: the same however often a call is tried again, and after restarts.
    pub(crate) fn step(&self) -> usize {
        self.messages.iter().filter(|said| !said.by_user).count()
    }

    /// All text and all results of the newest message.
    pub(crate) fn newest(&self) -> String {
        let parts = self.messages.last().map(|said| said.parts.as_slice());
        let texts: Vec<&str> = parts
            .unwrap_or_default()
            .iter()
            .filter_map(|part| match part {
                Part::Text(text) | Part::Result { content: text, .. } => Some(text.as_str()),
                Part::Call { .. } => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The results of the newest message: content, and whether it is an error.
    pub(crate) fn results(&self) -> Vec<(String, bool)> {
        let parts = self.messages.last().map(|said| said.parts.as_slice());
        parts
            .unwrap_or_default()
            .iter()
            .filter_map(|part| match part {
                Part::Result {
                    content, is_error, ..
                } => Some((content.clone(), *is_error)),
                Part::Text(_) | Part::Call { .. } => None,
            })
            .collect()
    }

    /// Everything ever put before the model, calls left out.
    pub(crate) fn everything(&self) -> String {
        let texts: Vec<&str> = self
            .messages
            .iter()
            .flat_map(|said| &said.parts)
            .filter_map(|part| match part {
                Part::Text(text) | Part::Result { content: text, .. } => Some(text.as_str()),
                Part::Call { .. } => None,
            })
            .collect();
        texts.join("\n")
    }

    /// The last assignment that this conversation tells of: the place of its message, and its text.
    pub(crate) fn assignment(&self) -> Option<(usize, &str)> {
        let messages = self.messages.iter().enumerate();
        let texts = messages.flat_map(|(at, said)| said.parts.iter().map(move |part| (at, part)));
        texts
            .filter_map(|(at, part)| match part {
                Part::Text(text) if text.contains("[Assignment]") => Some((at, text.as_str())),
                Part::Text(_) | Part::Call { .. } | Part::Result { .. } => None,
            })
            .next_back()
    }

    /// The id of its task, which its text names last. Results and mail may name other tasks.
    pub(crate) fn assigned_task(&self) -> Option<&str> {
        let (_, text) = self.assignment()?;
        text.get(text.rfind("task_")?..)?.get(..13)
    }

    /// `None` for a path that is no model's.
    pub(super) fn read(request: &Request) -> Option<Self> {
        let protocol = match request.path.as_str() {
            "/v1/messages" => Protocol::Anthropic,
            "/v1/chat/completions" => Protocol::OpenAi,
            _ => return None,
        };
        let body: Value = serde_json::from_slice(&request.body).unwrap_or_default();
        let (system, messages) = match protocol {
            Protocol::Anthropic => anthropic(&body),
            Protocol::OpenAi => openai(&body),
        };
        let tools = list(&body["tools"])
            .iter()
            .filter_map(|tool| tool["name"].as_str().or(tool["function"]["name"].as_str()))
            .map(str::to_owned)
            .collect();
        let agent = request.header("user-agent").unwrap_or_default();
        let agent = agent
            .split_once('(')
            .and_then(|(_, rest)| rest.split_once(')'));
        Some(Self {
            protocol,
            agent: agent.map(|(agent, _)| agent.to_owned()).unwrap_or_default(),
            turn: 0,
            model: word(&body["model"]),
            system,
            messages,
            tools,
            body,
            came: request.came,
        })
    }
}

fn anthropic(body: &Value) -> (String, Vec<Said>) {
    let system: Vec<String> = list(&body["system"])
        .iter()
        .map(|block| word(&block["text"]))
        .collect();
    let messages = list(&body["messages"])
        .iter()
        .map(|message| Said {
            by_user: message["role"] == "user",
            parts: list(&message["content"]).iter().filter_map(block).collect(),
        })
        .collect();
    (system.join("\n\n"), messages)
}

fn block(block: &Value) -> Option<Part> {
    match block["type"].as_str()? {
        "text" => Some(Part::Text(word(&block["text"]))),
        "tool_use" => Some(Part::Call {
            id: word(&block["id"]),
            name: word(&block["name"]),
            input: block["input"].clone(),
        }),
        "tool_result" => Some(Part::Result {
            id: word(&block["tool_use_id"]),
            content: word(&block["content"]),
            is_error: block["is_error"] == true,
        }),
        _ => None,
    }
}

fn openai(body: &Value) -> (String, Vec<Said>) {
    let mut system = Vec::new();
    let mut said: Vec<Said> = Vec::new();
    for message in list(&body["messages"]) {
        let content = word(&message["content"]);
        let (by_user, parts) = match message["role"].as_str() {
            Some("system") => {
                system.push(content);
                continue;
            }
            Some("assistant") => (false, assistant(message, content)),
            Some("tool") => (true, vec![result(message, &content)]),
            _ => (true, vec![Part::Text(content)]),
        };
        match said.last_mut() {
            Some(last) if last.by_user && by_user => last.parts.extend(parts),
            _ => said.push(Said { by_user, parts }),
        }
    }
    (system.join("\n\n"), said)
}

fn assistant(message: &Value, content: String) -> Vec<Part> {
    let text = (!content.is_empty()).then_some(Part::Text(content));
    let calls = list(&message["tool_calls"]).iter().map(|call| Part::Call {
        id: word(&call["id"]),
        name: word(&call["function"]["name"]),
        input: call["function"]["arguments"]
            .as_str()
            .and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default(),
    });
    text.into_iter().chain(calls).collect()
}

fn result(message: &Value, content: &str) -> Part {
    let error = content.strip_prefix("Error: ");
    Part::Result {
        id: word(&message["tool_call_id"]),
        content: error.unwrap_or(content).to_owned(),
        is_error: error.is_some(),
    }
}

pub(super) fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

pub(super) fn word(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
