//! Texts made to break the judge: huge, nested, cut anywhere.

use std::time::Duration;

use pitcrew::clock::instant;
use pitcrew::policy::Verdict;
use proptest::prelude::*;

use super::{bash, plain, word};

#[test]
fn huge_and_nested_texts_are_judged_in_time() {
    let policy = plain();
    let texts = [
        "$(".repeat(10_000) + &")".repeat(10_000),
        "(".repeat(25_000),
        "{".repeat(50_000),
        "{a,b}".repeat(10_000),
        "echo {".to_owned() + &"a,".repeat(25_000) + "}",
        "x; ".repeat(15_000),
        "a | ".repeat(15_000) + "b",
        "if true; then ".repeat(4_000),
        "sh -c '".repeat(7_500),
        "\"$(".repeat(10_000),
        "(v=1; ".repeat(5_000) + &")".repeat(5_000),
        "cat <<A\n".repeat(6_000),
        "a".repeat(10_000_000),
        "eval ".repeat(12_500) + "x",
        "env ".repeat(15_000) + "x",
        "find . ".to_owned() + &"-exec a {} \\; ".repeat(4_000),
        "find ".to_owned() + &"r ".repeat(1_500) + &"-exec a {} \\; ".repeat(1_500),
    ];
    for text in &texts {
        let begin = instant();
        let verdict = bash(&policy, text);
        let took = begin.elapsed();
        assert!(
            took < Duration::from_mins(1),
            "{took:?} for {}",
            &text[..40]
        );
        assert!(
            matches!(verdict, Verdict::Allow | Verdict::Ask { .. }),
            "{}",
            &text[..40]
        );
    }
}

proptest! {
    #[test]
    fn no_text_breaks_the_judge(text in "\\PC{0,200}") {
        bash(&plain(), &text);
    }

    #[test]
    fn no_shell_like_text_breaks_the_judge(
        pieces in proptest::collection::vec(
            prop::sample::select(vec![
                "rm", "sudo", " ", "\n", ";", "&&", "|", "(", ")", "$(", "`", "'", "\"", "\\", "{", "}", ",", "$X", "${", "<<EOF", "EOF", ">", "<(",
                "[[", "]]", "if", "then", "fi", "for", "in", "do", "done", "case", "esac", "~", "*", "/", "..", "-rf", "é", "$'", "=", "#", "!", "&",
            ]),
            0..40,
        ),
    ) {
        bash(&plain(), &pieces.concat());
        bash(&plain(), &pieces.join(" "));
    }

    #[test]
    fn a_denied_command_stays_denied_in_company(before in "[a-z ]{0,20}", after in "[a-z ]{0,20}") {
        let text = format!("echo {before}; sudo x {after}");
        prop_assert_eq!(word(&bash(&plain(), &text)), "deny");
    }
}
