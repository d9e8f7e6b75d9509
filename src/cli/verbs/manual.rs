//! `lead completions` and `lead man`: both made from the command line's own definition.

use clap::{Command, CommandFactory};
use clap_complete::Shell;

use crate::cli::args::Cli;
use crate::cli::exit::{Failure, Kind, Outcome};
use crate::cli::{meant, shell};

/// Prints the completions for `shell`.
pub fn completions(shell: Shell) -> Outcome {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "lead", &mut script);
    shell::out(&String::from_utf8_lossy(&script));
    Ok(Kind::Completed)
}

/// Prints the manual page of the verb that `words` name, of `lead` itself if there are none.
pub fn page(words: &[String]) -> Outcome {
    let mut lead = Cli::command();
    lead.build();
    let command = find(&lead, words)?.clone();
    let name = command
        .get_display_name()
        .unwrap_or_else(|| command.get_name())
        .to_owned();
    let mut roff = Vec::new();
    clap_mangen::Man::new(command.disable_help_flag(true))
        .title(name)
        .render(&mut roff)?;
    shell::out(&String::from_utf8_lossy(&roff));
    Ok(Kind::Completed)
}

fn find<'a>(lead: &'a Command, words: &[String]) -> Result<&'a Command, Failure> {
    words.iter().try_fold(lead, |command, word| {
        command.find_subcommand(word).ok_or_else(|| {
            let name = command.get_bin_name().unwrap_or("lead");
            let near = meant::by(name, word);
            let near = near.map_or_else(String::new, |call| format!("did you mean {call}? "));
            Failure::usage(format!(
                "no manual page for {word:?}; {name} has no such verb; {near}`{name} --help` shows what there is"
            ))
        })
    })
}
