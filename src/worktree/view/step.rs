//! How the branch of a worktree goes on when its view and the repository differ.

/// What is to be done with the branch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Step {
    /// Nothing has moved.
    Stay,
    /// The repository's has moved: the view follows at the next call.
    Follow,
    /// Both are at the same commit by now.
    Note,
    /// The view's has moved: the repository's follows, if it is still where it was.
    Move {
        /// Where it was.
        from: String,
        /// Where it goes.
        to: String,
    },
    /// Both have moved. If one has all of the other, the other follows.
    Compare {
        /// The view's.
        view: String,
        /// The repository's.
        real: String,
    },
    /// The view's has moved, and the repository has it no more.
    Gone,
}

/// Compares the branch in the view and in the repository with what was `noted` when both were last the same.
pub(super) fn step(noted: Option<&str>, view: Option<&str>, real: Option<&str>) -> Step {
    match (view, real) {
        // Taken away or renamed by the agent: the repository's stays.
        (None, _) => Step::Stay,
        (Some(view), Some(real)) if view == real && noted == Some(view) => Step::Stay,
        (Some(view), Some(real)) if view == real => Step::Note,
        (Some(view), _) if noted == Some(view) => Step::Follow,
        (Some(view), Some(real)) if noted == Some(real) => Step::Move {
            from: real.to_owned(),
            to: view.to_owned(),
        },
        (Some(view), Some(real)) => Step::Compare {
            view: view.to_owned(),
            real: real.to_owned(),
        },
        (Some(_), None) => Step::Gone,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_has_not_moved_follows() {
        let (one, two, three) = (Some("1"), Some("2"), Some("3"));
        let moved = |from: &str, to: &str| Step::Move {
            from: from.into(),
            to: to.into(),
        };
        let compare = Step::Compare {
            view: "2".into(),
            real: "3".into(),
        };
        for (noted, view, real, wanted) in [
            (one, one, one, Step::Stay),
            (one, one, two, Step::Follow),
            (one, one, None, Step::Follow),
            (one, two, one, moved("1", "2")),
            (one, two, two, Step::Note),
            (None, two, two, Step::Note),
            (one, two, three, compare.clone()),
            (None, two, three, compare),
            (one, two, None, Step::Gone),
            (None, two, None, Step::Gone),
            (one, None, one, Step::Stay),
            (one, None, two, Step::Stay),
            (None, None, None, Step::Stay),
        ] {
            let found = step(noted, view, real);
            assert_eq!(found, wanted, "{noted:?} {view:?} {real:?}");
        }
    }
}
