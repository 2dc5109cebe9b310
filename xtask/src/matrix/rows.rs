//! How nginx is configured, and how the module gets into it.

use std::fmt;

use crate::{project, vendored};

/// How the module gets into nginx.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Linked {
    /// A shared object of `make build`'s.
    MakeBuild,
    /// A shared object of nginx's own Makefile.
    Dynamically,
    /// Linked into the binary by nginx's own Makefile.
    Statically,
}

impl fmt::Display for Linked {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::MakeBuild => "make build",
            Self::Dynamically => "--add-dynamic-module",
            Self::Statically => "--add-module",
        })
    }
}

/// One way to configure nginx.
#[derive(Clone, Copy, Debug)]
pub struct Configuration {
    pub linked: Linked,
    compat: bool,
    debug: bool,
    threads: bool,
    /// With none of the modules and libraries that nginx can do without.
    pub bare: bool,
}

/// Each two of the five choices in each combination of theirs: how the module is linked, `--with-compat`,
/// `--with-debug`, `--with-threads`, bare or not.
pub const COVERING: [Configuration; 6] = [
    row(Linked::MakeBuild, true, true, true, false),
    row(Linked::MakeBuild, false, false, false, true),
    row(Linked::Dynamically, false, false, true, false),
    row(Linked::Dynamically, true, true, false, true),
    row(Linked::Statically, false, true, false, false),
    row(Linked::Statically, true, false, true, true),
];

const fn row(
    linked: Linked,
    compat: bool,
    debug: bool,
    threads: bool,
    bare: bool,
) -> Configuration {
    Configuration {
        linked,
        compat,
        debug,
        threads,
        bare,
    }
}

const BARE: [&str; 6] = [
    "--with-cc-opt=-O2 -fPIC",
    "--error-log-path=stderr",
    "--without-pcre",
    "--without-http_rewrite_module",
    "--without-http_gzip_module",
    "--without-http-cache",
];

impl Configuration {
    /// What `configure` is given.
    pub fn arguments(&self) -> Vec<String> {
        let modules: &[&str] = if self.bare {
            &BARE
        } else {
            &vendored::ARGUMENTS
        };
        let chosen = self.options();
        let is_a_choice = |argument: &&&str| {
            self.all_options()
                .iter()
                .any(|(option, _)| option == *argument)
        };
        let mut arguments: Vec<String> = modules
            .iter()
            .filter(|argument| !is_a_choice(argument))
            .chain(&chosen)
            .map(|argument| (*argument).to_owned())
            .collect();
        if self.linked != Linked::MakeBuild {
            arguments.push(format!("{}={}", self.linked, project::root().display()));
        }
        arguments
    }

    fn all_options(&self) -> [(&'static str, bool); 3] {
        [
            ("--with-compat", self.compat),
            ("--with-debug", self.debug),
            ("--with-threads", self.threads),
        ]
    }

    fn options(&self) -> Vec<&'static str> {
        let chosen = self.all_options().into_iter().filter(|(_, is_on)| *is_on);
        chosen.map(|(option, _)| option).collect()
    }
}

/// As a table shows it.
impl fmt::Display for Configuration {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bare = self.bare.then_some("bare");
        let words: Vec<_> = self.options().into_iter().chain(bare).collect();
        f.write_str(&words.join(" "))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// The five choices of a row, as numbers.
    fn choices(row: &Configuration) -> [usize; 5] {
        let flags = [row.compat, row.debug, row.threads, row.bare].map(usize::from);
        [row.linked as usize, flags[0], flags[1], flags[2], flags[3]]
    }

    #[test]
    fn each_two_choices_meet_in_each_combination() {
        let count = [3, 2, 2, 2, 2];
        for one in 0..count.len() {
            for other in 0..one {
                let met: BTreeSet<_> = COVERING
                    .iter()
                    .map(|row| (choices(row)[one], choices(row)[other]))
                    .collect();
                assert_eq!(met.len(), count[one] * count[other], "{one} and {other}");
            }
        }
    }

    #[test]
    fn an_option_is_given_where_the_row_has_it() {
        for row in COVERING {
            let arguments = row.arguments();
            for (option, is_on) in row.all_options() {
                let times = arguments
                    .iter()
                    .filter(|argument| *argument == option)
                    .count();
                assert_eq!(times, usize::from(is_on), "{row:?}: {option}");
            }
            assert_eq!(arguments.iter().any(|a| a == "--without-pcre"), row.bare);
        }
    }

    #[test]
    fn nginx_is_told_of_the_module_unless_make_build_makes_it() {
        let is_added = |row: &Configuration, option: &str| {
            let option = format!("{option}={}", project::root().display());
            row.arguments().contains(&option)
        };
        for row in COVERING {
            assert_eq!(
                is_added(&row, "--add-module"),
                row.linked == Linked::Statically
            );
            assert_eq!(
                is_added(&row, "--add-dynamic-module"),
                row.linked == Linked::Dynamically
            );
        }
    }
}
