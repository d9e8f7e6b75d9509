//! `lead mail list|show|send`.

use clap::Subcommand;
use serde_json::Value;

use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::place::Place;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell;
use crate::cli::table::Table;
use crate::clock::Timestamp;
use crate::ids::AgentName;
use crate::mailbox::{self, Message, SendError, Sent, inbox};
use crate::tool::TeamDirectory;

/// What is done with mail.
#[derive(Debug, Subcommand)]
pub enum MailVerb {
    /// Messages that wait in a mailbox, without taking them in
    #[command(after_help = "Example:\n  lead mail list alice --all")]
    List {
        /// Whose mailbox
        #[arg(default_value = "lead")]
        name: String,
        /// With what was taken in already
        #[arg(long)]
        all: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// One message in full, waiting or taken in
    #[command(after_help = "Example:\n  lead mail show msg_9f86d081884c7d65")]
    Show {
        /// The message's id
        id: String,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Send a message from you
    #[command(after_help = "Example:\n  lead mail send alice \"Leave the printer for tomorrow.\"")]
    Send {
        /// A teammate's name, or lead
        to: String,
        /// What to say
        text: String,
        /// As JSON: the message, with `kept` if it waits for somebody who is not there
        #[arg(long)]
        json: bool,
    },
}

impl MailVerb {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        !matches!(self, Self::Send { .. })
    }
}

/// Runs the verb.
pub fn run(place: &Place, verb: &MailVerb) -> Outcome {
    match verb {
        MailVerb::List { name, all, json } => list(place, name, *all, *json),
        MailVerb::Show { id, json } => show(place, id, *json),
        MailVerb::Send { to, text, json } => send(place, to, text, *json),
    }
}

fn list(place: &Place, name: &str, all: bool, as_json: bool) -> Outcome {
    let name = AgentName::parse(name).map_err(Failure::usage)?;
    let mut messages = Vec::new();
    if all {
        messages.extend(inbox::archived(&place.workspace, &name)?);
    }
    messages.extend(inbox::waiting(&place.workspace, &name)?);
    if as_json {
        shell::out_json(&serde_json::to_value(&messages)?);
        return Ok(Kind::Completed);
    }
    if messages.is_empty() {
        shell::out_line(&format!("no mail waits for {name}"));
    }
    let mut table = Table::new(&["id", "at", "from", "type", "text"]);
    for message in &messages {
        table.row(&[
            message.id.clone(),
            Timestamp::from_ms(message.timestamp).to_string(),
            message.from.clone(),
            kind_text(message),
            message
                .summary
                .clone()
                .unwrap_or_else(|| message.content.clone()),
        ]);
    }
    for line in table.lines() {
        shell::out_line(&line);
    }
    Ok(Kind::Completed)
}

fn show(place: &Place, id: &str, as_json: bool) -> Outcome {
    for agent in place.agents() {
        let mut messages = inbox::waiting(&place.workspace, &agent)?;
        messages.extend(inbox::archived(&place.workspace, &agent)?);
        let Some(message) = messages.iter().find(|message| message.id == id) else {
            continue;
        };
        if as_json {
            shell::out_json(&serde_json::to_value(message)?);
        } else {
            print(message);
        }
        return Ok(Kind::Completed);
    }
    Err(Failure::usage(format!(
        "there is no message {id:?}; neither waiting nor taken in; `lead mail list NAME --all` lists ids"
    )))
}

fn print(message: &Message) {
    let line =
        |key: &str, value: &str| shell::out_line(&format!("{key:<9} {}", safe_line(value, 400)));
    line("id", &message.id);
    line("from", &message.from);
    line("to", &message.to);
    line("type", &kind_text(message));
    line("at", &Timestamp::from_ms(message.timestamp).to_string());
    if let Some(metadata) = &message.metadata {
        line("metadata", &Value::Object(metadata.clone()).to_string());
    }
    shell::out_line("");
    shell::out_line(&safe(&message.content));
}

fn send(place: &Place, to: &str, text: &str, as_json: bool) -> Outcome {
    let to = AgentName::parse(to).map_err(Failure::usage)?;
    let directory = TeamDirectory::new(place.workspace.clone(), place.roster());
    let mut message = Message::new(&AgentName::user(), &to, mailbox::Kind::Message, text);
    let sent = place
        .post()?
        .send(&mut message, &directory)
        .map_err(|error| match error {
            SendError::Lock(_) | SendError::Store(_) => Failure::from(error),
            SendError::ToSelf(_) => Failure::usage(
                "you cannot write to yourself; nothing was sent; name the lead or a teammate, as in `lead mail send lead TEXT`",
            ),
            other => Failure::usage(format!("{other}; nothing was sent")),
        })?;
    place.keep_out_of_git();
    if as_json {
        let mut value = serde_json::to_value(&message)?;
        if let Sent::Kept(how) = sent {
            value["kept"] = how.into();
        }
        shell::out_json(&value);
        return Ok(Kind::Completed);
    }
    match sent {
        Sent::Delivered => shell::out_line(&format!("{} sent to {}", message.id, message.to)),
        Sent::Kept(how) => shell::out_line(&format!(
            "{} kept for {}: {}",
            message.id,
            message.to,
            safe_line(&how, 400)
        )),
    }
    Ok(Kind::Completed)
}

fn kind_text(message: &Message) -> String {
    serde_json::to_value(&message.kind)
        .ok()
        .and_then(|kind| kind.as_str().map(str::to_owned))
        .unwrap_or_default()
}
