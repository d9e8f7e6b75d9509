//! clap's errors in our one-line form.

use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::exit::{Failure, Kind, Outcome};
use super::{meant, shell};

/// Help and version go to standard output; everything else is a usage error of one line.
pub fn report(program: &str, error: &clap::Error) -> Outcome {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            shell::out(&error.render().to_string());
            Ok(Kind::Completed)
        }
        _ => Err(Failure::usage(one_line(program, error))),
    }
}

fn one_line(program: &str, error: &clap::Error) -> String {
    let context = |kind| error.get(kind).map(text).unwrap_or_default();
    let what = match error.kind() {
        ErrorKind::InvalidSubcommand => {
            format!("unknown verb {:?}", context(ContextKind::InvalidSubcommand))
        }
        ErrorKind::UnknownArgument => {
            format!("unknown argument {:?}", context(ContextKind::InvalidArg))
        }
        ErrorKind::MissingSubcommand | ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            "a verb is missing".to_owned()
        }
        _ => first_sentence(&error.to_string()),
    };
    let command = command_of(error).unwrap_or_else(|| program.to_owned());
    let near = if error.kind() == ErrorKind::InvalidSubcommand {
        meant::by(&command, &context(ContextKind::InvalidSubcommand))
    } else {
        [ContextKind::SuggestedArg, ContextKind::SuggestedValue]
            .into_iter()
            .map(context)
            .find(|near| !near.is_empty())
            .map(|near| format!("{near:?}"))
    };
    let hint = near.map_or_else(String::new, |near| format!("did you mean {near}? "));
    format!("{what}; nothing was done; {hint}`{command} --help` shows what there is")
}

/// The verb that the error is about, with the program before it: the words of its usage line up to the first argument.
fn command_of(error: &clap::Error) -> Option<String> {
    let usage = text(error.get(ContextKind::Usage)?);
    let words = usage.strip_prefix("Usage: ")?.split_whitespace();
    let command: Vec<&str> = words
        .take_while(|word| word.starts_with(|ch: char| ch.is_ascii_alphanumeric()))
        .collect();
    (!command.is_empty()).then(|| command.join(" "))
}

fn text(value: &ContextValue) -> String {
    match value {
        ContextValue::String(text) => text.clone(),
        ContextValue::Strings(texts) => texts.first().cloned().unwrap_or_default(),
        other => other.to_string(),
    }
}

/// clap's message without its `error: ` and without tips and usage, on one line.
fn first_sentence(rendered: &str) -> String {
    rendered
        .trim_start_matches("error: ")
        .split("\n\n")
        .next()
        .unwrap_or_default()
        .lines()
        .map(str::trim)
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::super::args::Cli;
    use super::*;

    #[test]
    fn every_usage_error_is_one_line_that_says_what_to_do() {
        for (line, wanted) in [
            (
                "lead frobnicate",
                "unknown verb \"frobnicate\"; nothing was done; `lead --help`",
            ),
            (
                "lead statsu",
                "unknown verb \"statsu\"; nothing was done; did you mean `lead status`?",
            ),
            (
                "lead --modle x",
                "unknown argument \"--modle\"; nothing was done; did you mean \"--model\"?",
            ),
            ("lead task", "a verb is missing;"),
            (
                "lead task show",
                "the following required arguments were not provided: <ID>;",
            ),
            (
                "lead --max-tokens many",
                "invalid value 'many' for '--max-tokens <N>': invalid digit",
            ),
            (
                "lead --permissions askk",
                "invalid value 'askk' for '--permissions <MODE>'",
            ),
            (
                "lead --output-format json",
                "the following required arguments were not provided:",
            ),
            (
                "lead -p x --continue --resume y",
                "the argument '--continue' cannot be used with",
            ),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            let text = one_line("lead", &error);
            assert!(text.starts_with(wanted), "{line}: {text}");
            assert!(!text.contains('\n'), "{text}");
        }
    }

    #[test]
    fn the_help_named_is_that_of_the_verb() {
        for (line, wanted) in [
            ("lead frobnicate", "`lead --help` shows"),
            ("lead task frob", "`lead task --help` shows"),
            ("lead task show", "`lead task show --help` shows"),
            ("lead mail send bob", "`lead mail send --help` shows"),
            ("lead config --jsno", "`lead config --help` shows"),
        ] {
            let error = Cli::try_parse_from(line.split(' ')).unwrap_err();
            let text = one_line("lead", &error);
            assert!(text.contains(wanted), "{line}: {text}");
        }
    }
}
