//! What lead, teammate and verbs share above the tools: the board with its usual bound, and words for members that are gone.

use crate::board::{Board, BoardError};
use crate::store::Durability;
use crate::team::MemberStatus;
use crate::tool;
use crate::workspace::Workspace;

/// After how many claims a task is no longer offered, where the settings say nothing.
pub const MAX_ATTEMPTS: u32 = 3;

/// The board of `workspace`, with [`MAX_ATTEMPTS`] where the settings say nothing.
pub fn open_board(
    workspace: &Workspace,
    durability: Durability,
    max_attempts: Option<u32>,
) -> Result<Board, BoardError> {
    tool::open_board(workspace, durability, max_attempts.unwrap_or(MAX_ATTEMPTS))
}

/// How a member is whose process is gone.
pub fn absent(status: MemberStatus) -> &'static str {
    match status {
        MemberStatus::Stopped => "stopped",
        MemberStatus::Failed => "failed",
        MemberStatus::Starting
        | MemberStatus::Working
        | MemberStatus::Idle
        | MemberStatus::WaitingApproval
        | MemberStatus::Stopping => "lost",
    }
}
