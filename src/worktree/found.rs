//! Whether git can be used at all.

use super::git::Git;
use super::repository::Repository;
use crate::workspace::Workspace;

/// What there is of git.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GitFound {
    /// The workspace is in a checkout that git works in; git's version.
    Checkout(String),
    /// It is in none; git's version.
    NoCheckout(String),
}

/// Runs git and asks it for the checkout around the workspace; `Err` says in words what it cannot do.
pub fn find_git(workspace: &Workspace) -> Result<GitFound, String> {
    let git = Git::in_workspace(workspace.root());
    let version = git
        .text(&["version"])
        .map_err(|error| format!("git cannot be run: {error}"))?;
    match Repository::around(workspace.root()) {
        Ok(None) => Ok(GitFound::NoCheckout(version)),
        Ok(Some(_)) => match git.text(&["rev-parse", "--show-toplevel"]) {
            Ok(_) => Ok(GitFound::Checkout(version)),
            Err(error) => Err(format!("git refuses this checkout: {error}")),
        },
        Err(error) => Err(format!("the checkout cannot be read: {error}")),
    }
}
