//! docs/reference_commands.md, from the definitions that the command line is parsed by.

use clap::{Arg, ArgAction, Command};
use std::fmt::Write as _;

pub const PAGE: &str = "docs/reference_commands.md";

const HEAD: &str = "\
# Commands

<!-- Written by the test `documents` from the definition of the command line: change crates/pomp/src/cli, then run the test with
POMP_UPDATE=1. -->

Every command with its arguments. [command_line.md](command_line.md) describes what they share: exit codes, messages, JSON.
Without a command, `pomp` does what `pomp generate` does.
";

/// The page.
pub fn page(mut program: Command) -> String {
    // Fills in what is derived: the full names of nested commands, the options that all commands share.
    program.build();
    let mut page = HEAD.to_owned();
    page.push_str("\n## Options of every command\n\n");
    let shared: Vec<&Arg> = program.get_arguments().filter(|argument| argument.is_global_set()).collect();
    options(&mut page, &program, &shared);
    for command in listed(&program) {
        describe(&mut page, command, 2);
    }
    page
}

fn listed(command: &Command) -> impl Iterator<Item = &Command> {
    command.get_subcommands().filter(|inner| inner.get_name() != "help" && !inner.is_hide_set())
}

fn describe(page: &mut String, command: &Command, level: usize) {
    let name = command.get_bin_name().expect("the program is built");
    let about = command.get_long_about().or_else(|| command.get_about()).expect("every command has a text");
    let about = escaped(&about.to_string());
    let end = if about.ends_with('.') { "" } else { "." };
    writeln!(page, "\n{} {name}\n\n{about}{end}", "#".repeat(level)).unwrap();
    let nested: Vec<&Command> = listed(command).collect();
    // A command that has commands of its own may do something without one.
    if nested.is_empty() || command.get_arguments().any(Arg::is_required_set) {
        let usage = command.clone().render_usage().to_string();
        let usage = usage.strip_prefix("Usage: ").expect("clap writes so");
        writeln!(page, "\n```sh\n{usage}\n```").unwrap();
    }
    let own: Vec<&Arg> = command
        .get_arguments()
        .filter(|argument| {
            !argument.is_global_set() && !argument.is_hide_set() && argument.get_id() != "help"
        })
        .collect();
    let (positional, flags): (Vec<&Arg>, Vec<&Arg>) =
        own.into_iter().partition(|argument| argument.is_positional());
    if !positional.is_empty() {
        page.push_str("\n| argument | meaning |\n|---|---|\n");
        for argument in positional {
            writeln!(page, "| {} | {} |", placeholder(argument), meaning(command, argument)).unwrap();
        }
    }
    if !flags.is_empty() {
        page.push('\n');
        options(page, command, &flags);
    }
    if let Some(more) = command.get_after_help() {
        page.push('\n');
        page.push_str(&with_code_blocks(&more.to_string()));
    }
    for inner in nested {
        describe(page, inner, level + 1);
    }
}

fn options(page: &mut String, command: &Command, flags: &[&Arg]) {
    page.push_str("| option | default | meaning |\n|---|---|---|\n");
    for argument in flags {
        let mut names = argument.get_short().map_or_else(String::new, |short| format!("`-{short}`, "));
        let long = argument.get_long().expect("every option has a long name");
        match argument.get_action().takes_values() {
            true => write!(names, "`--{long} {}`", values(argument)).unwrap(),
            false => write!(names, "`--{long}`").unwrap(),
        }
        let defaults: Vec<_> =
            argument.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
        let default = match argument.is_required_set() {
            true => "required".to_owned(),
            false if defaults.is_empty() || !argument.get_action().takes_values() => String::new(),
            false => format!("`{}`", defaults.join(",")),
        };
        writeln!(page, "| {names} | {default} | {} |", meaning(command, argument)).unwrap();
    }
}

/// The values of an option as its usage has them: `FILE`, `[FILE]`.
fn values(argument: &Arg) -> String {
    let name = argument.get_value_names().map_or(argument.get_id().as_str(), |names| names[0].as_str());
    let at_least = argument.get_num_args().map_or(1, |count| count.min_values());
    if at_least == 0 { format!("[{name}]") } else { name.to_owned() }
}

/// A positional argument as the usage has it.
fn placeholder(argument: &Arg) -> String {
    let several = argument.get_num_args().is_some_and(|count| count.max_values() > 1);
    let name = values(argument);
    let name = if argument.is_required_set() { format!("<{name}>") } else { format!("[{name}]") };
    format!("`{name}{}`", if several { "..." } else { "" })
}

/// What the help says of an argument, its choices, its range, and what it does not go with.
fn meaning(command: &Command, argument: &Arg) -> String {
    let help = argument.get_long_help().or_else(|| argument.get_help());
    let help = help.unwrap_or_else(|| panic!("{}: no help", argument.get_id())).to_string();
    let mut text = escaped(&help).split_whitespace().collect::<Vec<_>>().join(" ");
    if !text.ends_with('.') {
        text.push('.');
    }
    let choices = argument.get_possible_values();
    if !choices.is_empty() && argument.get_action().takes_values() {
        let told = choices.iter().map(|choice| {
            let help = choice.get_help().map(|help| format!(" ({})", help.to_string().trim_end_matches('.')));
            format!("`{}`{}", choice.get_name(), escaped(&help.unwrap_or_default()))
        });
        write!(text, " One of {}.", told.collect::<Vec<_>>().join(", ")).unwrap();
    }
    if let Some(range) = range(command, argument) {
        write!(text, " {range}.").unwrap();
    }
    if matches!(argument.get_action(), ArgAction::Append) && !argument.is_positional() {
        match argument.get_value_delimiter() {
            Some(mark) => write!(text, " Several are separated by `{mark}`.").unwrap(),
            None if text.contains("as often as needed") || text.contains("several times") => {}
            None => text.push_str(" May be given several times."),
        }
    }
    // Of two options that exclude each other only one says so.
    let excludes = |one: &Arg, other: &Arg| {
        command.get_arg_conflicts_with(one).iter().any(|found| found.get_id() == other.get_id())
    };
    let excluded: Vec<String> = command
        .get_arguments()
        .filter(|other| excludes(argument, other) || excludes(other, argument))
        .filter_map(|other| other.get_long())
        .map(|long| format!("`--{long}`"))
        .collect();
    if !excluded.is_empty() {
        write!(text, " Not with {}.", excluded.join(", ")).unwrap();
    }
    text
}

/// The range of a number, as the command line tells it when a value is refused.
fn range(command: &Command, argument: &Arg) -> Option<String> {
    let long = argument.get_long().filter(|_| argument.get_action().takes_values())?;
    let attempt = [command.get_name(), &format!("--{long}=nan")].map(str::to_owned);
    let refused = command.clone().try_get_matches_from(attempt).err()?.to_string();
    let (_, reason) = refused.lines().next()?.split_once("': ")?;
    // "give a number from 1.5 to 2 m", or "this is not a number; give one from 1.5 to 2 m".
    let (_, range) = reason.split_once("give ")?;
    let range =
        range.strip_prefix("one ").map_or_else(|| range.to_owned(), |rest| format!("a number {rest}"));
    let mut letters = range.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect())
}

/// A text of the command line as markdown: what is indented by two blanks is code, everything else is paragraphs.
fn with_code_blocks(text: &str) -> String {
    let mut page = String::new();
    let mut code = false;
    for line in text.lines() {
        let indented = line.strip_prefix("  ");
        if indented.is_some() != code && (indented.is_some() || !line.is_empty()) {
            let opens = if page.ends_with("\n\n") { "```text\n" } else { "\n```text\n" };
            page.push_str(if code { "```\n\n" } else { opens });
            code = !code;
        }
        page.push_str(&indented.map_or_else(|| escaped(line), str::to_owned));
        page.push('\n');
    }
    if code {
        page.push_str("```\n");
    }
    // A blank line before a fence's end comes from the blank line between two paragraphs.
    page.replace("\n\n```\n\n", "\n```\n\n")
}

/// Text as markdown that shows it letter by letter, also in a table.
fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;").replace('*', "\\*")
}

#[test]
fn an_option_is_described_with_its_default_choices_range_and_exclusions() {
    let limited = |text: &str| text.parse::<u8>().map_err(|_| "give a whole number from 0 to 255".to_owned());
    let program = Command::new("walk").subcommand(
        Command::new("far")
            .about("Walk | far.")
            .arg(Arg::new("PATH").required(true).help("The path"))
            .arg(
                Arg::new("gait")
                    .long("gait")
                    .value_parser(["walk", "jog"])
                    .default_value("walk")
                    .help("How."),
            )
            .arg(Arg::new("seed").long("seed").value_name("N").value_parser(limited).help("The seed."))
            .arg(
                Arg::new("quick")
                    .long("quick")
                    .action(ArgAction::SetTrue)
                    .conflicts_with("seed")
                    .help("Now."),
            )
            .after_help("Examples:\n  walk far a\n\nIt may take long."),
    );
    let page = page(program);
    let (_, shown) = page.split_once("\n## walk far\n").unwrap();
    assert_eq!(
        shown,
        "\nWalk \\| far.\n\n```sh\nwalk far [OPTIONS] <PATH>\n```\n\
         \n| argument | meaning |\n|---|---|\n| `<PATH>` | The path. |\n\
         \n| option | default | meaning |\n|---|---|---|\n\
         | `--gait gait` | `walk` | How. One of `walk`, `jog`. |\n\
         | `--seed N` |  | The seed. A whole number from 0 to 255. Not with `--quick`. |\n\
         | `--quick` |  | Now. Not with `--seed`. |\n\
         \nExamples:\n\n```text\nwalk far a\n```\n\nIt may take long.\n"
    );
}
