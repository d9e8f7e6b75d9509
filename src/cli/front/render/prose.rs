//! What somebody has written, as lines: messages, notes, the answers of tools.

use crate::cli::front::flow::Flow;
use crate::cli::safe::{safe, safe_line};
use crate::cli::shell::Style;
use crate::cli::wrap;
use crate::mailbox::{Kind, Message};

/// Most lines of a message or a tool's answer that are shown.
pub(super) const MAX_LINES: usize = 30;
const INDENT: &str = "  ";

/// Lines of somebody's text as they are, indented, the end left out if there are many.
pub(super) fn indented(text: &str) -> Vec<String> {
    let (text, more) = beginning(text);
    let text = safe(text);
    let mut lines: Vec<String> = text.lines().map(|line| format!("{INDENT}{line}")).collect();
    lines.extend(more.map(|more| format!("{INDENT}… ({more} more lines)")));
    lines
}

/// The same as prose: rows of `width` columns, markdown understood.
pub(super) fn paragraphs(style: Style, text: &str, width: Option<usize>) -> Vec<String> {
    let (text, more) = beginning(text);
    let width = width.map(|width| width.saturating_sub(INDENT.len()));
    let mut flow = Flow::new(style);
    let mut rows = flow.push(text, width);
    rows.extend(flow.end(width));
    rows.extend(more.map(|more| format!("… ({more} more lines)")));
    let rows = rows.into_iter();
    rows.map(|row| format!("{INDENT}{row}").trim_end().to_owned())
        .collect()
}

/// The first lines, and how many come after them.
fn beginning(text: &str) -> (&str, Option<usize>) {
    let text = text.trim_end();
    let Some((end, _)) = text.match_indices('\n').nth(MAX_LINES - 1) else {
        return (text, None);
    };
    let more = text[end + 1..].lines().count();
    (&text[..end], Some(more))
}

/// A message in full. What the board and the teammates' states show already is left out.
pub(super) fn mail(style: Style, message: &Message, width: Option<usize>) -> Vec<String> {
    match &message.kind {
        Kind::IdleNotification if !message.starts_round() => return Vec::new(),
        Kind::TaskNotification if !message.starts_round() => {
            let besides = indented(&message.content);
            return besides.iter().skip(1).map(|line| style.dim(line)).collect();
        }
        _ => {}
    }
    let kind = serde_json::to_value(&message.kind).unwrap_or_default();
    let kind = kind.as_str().unwrap_or_default().replace('_', " ");
    let summary = message
        .summary
        .as_deref()
        .filter(|summary| !message.content.starts_with(*summary));
    let about = summary.map_or_else(String::new, |about| format!(" ({about})"));
    let head = safe_line(&format!("{} → {}", message.from, message.to), 160);
    let what = style.dim(&safe_line(&format!("{kind}{about}"), 200));
    let mut lines = wrap::lines(vec![format!("{} {what}", style.name(&head))], width);
    lines.extend(paragraphs(style, &message.content, width));
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_cut_with_a_count() {
        let text = "line\n".repeat(40);
        for lines in [
            indented(&text),
            paragraphs(Style::default(), &text, Some(20)),
        ] {
            assert_eq!(lines.len(), MAX_LINES + 1);
            assert_eq!(lines[0], "  line");
            assert_eq!(lines.last().unwrap(), "  … (10 more lines)");
        }
        assert_eq!(indented("one\n").len(), 1);
    }
}
