//! One question of a verb on standard input.

use std::io::BufRead;

use super::exit::Failure;
use super::shell;

/// Whether the person says yes. On a terminal it asks until it is answered; elsewhere, and at the end of input, what is no
/// yes is no.
pub fn ask(question: &str) -> Result<bool, Failure> {
    loop {
        shell::out(&format!("{question} [y/n] "));
        let mut answer = String::new();
        if std::io::stdin().lock().read_line(&mut answer)? == 0 {
            return Ok(false);
        }
        match answer.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Ok(true),
            "n" | "no" => return Ok(false),
            _ if shell::is_interactive() => {}
            _ => return Ok(false),
        }
    }
}
