//! The goal of `-p`: given on the command line, or read from standard input.

use std::io::{self, IsTerminal, Read};

use super::exit::Failure;

/// Longest goal that is read from standard input, in bytes.
const LONGEST: u64 = 1024 * 1024;

/// The goal that `given` means, `-` being standard input. Nothing has been made on disk when this fails.
pub(super) fn read(given: Option<&str>) -> Result<Option<String>, Failure> {
    let Some(given) = given else {
        return Ok(None);
    };
    let text = if given == "-" {
        let stdin = io::stdin().lock();
        if stdin.is_terminal() {
            return Err(Failure::usage(
                "-p - reads the goal from standard input, which is a terminal; there is none to read; pipe it in, or say it: \
                 lead -p \"GOAL\"",
            ));
        }
        from(stdin)?
    } else {
        given.to_owned()
    };
    match text.trim() {
        "" => Err(Failure::usage(
            "the goal is empty; there is nothing to work on; say what is to be done: lead -p \"GOAL\"",
        )),
        goal => Ok(Some(goal.to_owned())),
    }
}

fn from(input: impl Read) -> Result<String, Failure> {
    let mut text = String::new();
    input
        .take(LONGEST + 1)
        .read_to_string(&mut text)
        .map_err(|error| {
            Failure::usage(format!(
                "the goal was not read from standard input; {error}; give it as text"
            ))
        })?;
    if text.len() as u64 > LONGEST {
        return Err(Failure::usage(
            "the goal on standard input has more than 1 MiB; no model takes so much at once; put it into a file and name the \
             file in the goal",
        ));
    }
    Ok(text)
}

/// What is said where something waits on standard input that nobody will read.
pub(super) fn unread(given: Option<&str>) -> Option<String> {
    let stdin = io::stdin();
    let ignored = given.is_some_and(|given| given != "-") && !stdin.is_terminal();
    let waits = ignored && rustix::io::ioctl_fionread(&stdin).is_ok_and(|bytes| bytes > 0);
    waits.then(|| {
        "what comes on standard input is not read; -p - takes the goal from there".to_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_piped_in_is_read_whole_or_refused() {
        assert_eq!(from("a\nb\n".as_bytes()).unwrap(), "a\nb\n");
        let most = usize::try_from(LONGEST).unwrap();
        assert_eq!(from(vec![b'a'; most].as_slice()).unwrap().len(), most);
        for (input, why) in [
            (vec![b'a'; most + 1], "1 MiB"),
            (vec![0xff], "was not read"),
        ] {
            let refused = from(input.as_slice()).unwrap_err();
            assert!(format!("{refused:?}").contains(why), "{refused:?}");
        }
    }

    #[test]
    fn a_goal_on_the_command_line_is_taken_without_its_margins() {
        assert_eq!(read(None).unwrap(), None);
        assert_eq!(read(Some(" go \n")).unwrap().as_deref(), Some("go"));
        assert!(format!("{:?}", read(Some(" \n")).unwrap_err()).contains("goal is empty"));
    }
}
