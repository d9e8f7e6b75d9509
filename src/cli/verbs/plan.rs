//! `lead plan list|approve|reject`.

use clap::Subcommand;

use super::requests::{self, PersonsAnswer};
use crate::cli::exit::Outcome;
use crate::cli::place::Place;
use crate::request::{RequestKind, RequestStatus};

/// What is done with plans.
#[derive(Debug, Subcommand)]
pub enum PlanVerb {
    /// All plans that are kept
    #[command(after_help = "Example:\n  lead plan list --json")]
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Let a plan go ahead
    #[command(after_help = "Example:\n  lead plan approve req_0a1b2c3d --comment \"Tests first.\"")]
    Approve {
        /// The request's id
        #[arg(value_name = "REQ")]
        id: String,
        /// What the teammate is told with it
        #[arg(long, value_name = "T")]
        comment: Option<String>,
    },
    /// Refuse a plan
    #[command(
        after_help = "Example:\n  lead plan reject req_0a1b2c3d --comment \"Leave the parser alone.\""
    )]
    Reject {
        /// The request's id
        #[arg(value_name = "REQ")]
        id: String,
        /// What is to be done differently
        #[arg(long, value_name = "T")]
        comment: Option<String>,
    },
}

impl PlanVerb {
    /// Whether it changes nothing.
    pub fn only_reads(&self) -> bool {
        matches!(self, Self::List { .. })
    }
}

/// Runs the verb.
pub fn run(place: &Place, verb: &PlanVerb) -> Outcome {
    let (id, status, comment) = match verb {
        PlanVerb::List { json } => return requests::list(place, RequestKind::PlanApproval, *json),
        PlanVerb::Approve { id, comment } => (id, RequestStatus::Approved, comment),
        PlanVerb::Reject { id, comment } => (id, RequestStatus::Rejected, comment),
    };
    requests::decide(
        place,
        &PersonsAnswer {
            id,
            kind: RequestKind::PlanApproval,
            status,
            comment: comment.as_deref(),
            scope: None,
        },
    )
}
