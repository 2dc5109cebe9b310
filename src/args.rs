//! `NAME=VALUE` arguments of `content_by_rust`: constants checked while the configuration is
//! read, variables evaluated for each request.

use crate::abi::{ComplexValue, Conf};
use crate::request::Request;
use crate::response::{Error, Result};
use crate::stats::Stats;
use crate::{parse, quotes};
use std::borrow::Cow;
use std::fmt;
use std::time::Duration;

/// The arguments that a location gives to its handler.
///
/// A handler takes those it knows; what is left over is an error that nginx reports.
pub struct Args<'a> {
    conf: Conf<'a>,
    handler: &'a str,
    given: Vec<Given<'a>>,
    values: Vec<ComplexValue>,
    shortest_delay: Option<Duration>,
    reads_stats: bool,
}

/// What a handler's arguments have come to.
pub(crate) struct Finished {
    pub(crate) values: Vec<ComplexValue>,
    pub(crate) shortest_delay: Option<Duration>,
    pub(crate) reads_stats: bool,
}

struct Given<'a> {
    name: &'a [u8],
    value: &'a [u8],
    taken: bool,
}

/// Why a location's arguments are refused. Its text is the line that nginx logs.
#[derive(Debug)]
pub struct ArgError(Cow<'static, str>);

impl ArgError {
    /// nginx has said what is wrong.
    pub(crate) const LOGGED: ArgError = ArgError(Cow::Borrowed(""));

    pub(crate) fn is_logged(&self) -> bool {
        self.0.is_empty()
    }

    /// Refuses the configuration with this message.
    pub fn new(message: impl Into<Cow<'static, str>>) -> ArgError {
        let message = message.into();
        match message.is_empty() {
            false => ArgError(message),
            true => ArgError("invalid parameters".into()),
        }
    }
}

impl fmt::Display for ArgError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ArgError {}

/// A type that an argument can have.
pub trait FromArg: Sized + Copy {
    /// What a value must be, to end the sentence "it must be …" with.
    const MUST_BE: &'static str;

    /// Reads a value; `None` where it is not one.
    fn parse(text: &[u8]) -> Option<Self>;

    /// The time that a handler with this constant waits, to be compared with `timer_resolution`.
    fn as_delay(self) -> Option<Duration> {
        None
    }

    /// Brings a value that came out of a variable into the location's limits.
    fn limit(self, _request: &Request) -> Self {
        self
    }
}

/// A length of time, in nginx's syntax. Out of a variable it is never longer than
/// `rust_max_delay`.
impl FromArg for Duration {
    const MUST_BE: &'static str = "a time such as \"20ms\"";

    fn parse(text: &[u8]) -> Option<Duration> {
        parse::time(text)
    }

    fn as_delay(self) -> Option<Duration> {
        (!self.is_zero()).then_some(self)
    }

    fn limit(self, request: &Request) -> Duration {
        self.min(request.max_delay())
    }
}

/// A status that an answer can end with: 200 to 999, as in nginx's `return`; those below
/// announce another answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Status(pub u16);

impl FromArg for Status {
    const MUST_BE: &'static str = "a status from 200 to 999";

    fn parse(text: &[u8]) -> Option<Status> {
        let status = parse::unsigned(text)?;
        (text.len() == 3 && (200..=999).contains(&status)).then_some(Status(status as u16))
    }
}

impl FromArg for u64 {
    const MUST_BE: &'static str = "a number";

    fn parse(text: &[u8]) -> Option<u64> {
        parse::unsigned(text)
    }
}

impl FromArg for bool {
    const MUST_BE: &'static str = "\"on\" or \"off\"";

    fn parse(text: &[u8]) -> Option<bool> {
        match text {
            b"on" => Some(true),
            b"off" => Some(false),
            _ => None,
        }
    }
}

/// A value of the configuration, which may hold variables: `Request::evaluate` gives its text.
///
/// It is a number that means something to the requests of its own location alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Value(pub(crate) usize);

/// An argument of type `T`: a constant, checked by `nginx -t`, or one that each request gives.
#[derive(Clone, Copy, Debug)]
pub struct Arg<T>(Source<T>);

#[derive(Clone, Copy, Debug)]
enum Source<T> {
    Constant(T),
    Variable { name: &'static str, value: Value },
}

impl<T> Arg<T> {
    /// A constant.
    pub const fn constant(value: T) -> Arg<T> {
        Arg(Source::Constant(value))
    }
}

impl<T: FromArg> Arg<T> {
    /// The value for this request; `None` where its variables are all empty.
    ///
    /// # Errors
    ///
    /// A value out of a variable that is no `T` is the client's mistake: 400, and a line at
    /// `info` that says why.
    #[inline]
    pub fn get(&self, request: &Request) -> Result<Option<T>> {
        match self.0 {
            Source::Constant(constant) => Ok(Some(constant)),
            Source::Variable { name, value } => get(request, name, value),
        }
    }
}

#[cold]
fn get<T: FromArg>(request: &Request, name: &str, value: Value) -> Result<Option<T>> {
    let text = request.evaluate_bytes(value)?;
    if text.is_empty() {
        return Ok(None);
    }
    match T::parse(text) {
        Some(value) => Ok(Some(value.limit(request))),
        None => Err(Error::new(400).because(invalid_value(name, text, T::MUST_BE))),
    }
}

fn invalid_value(name: &str, text: &[u8], must_be: &str) -> String {
    format!(
        "invalid value \"{}\" in \"{name}\" parameter, it must be {must_be}",
        text.escape_ascii()
    )
}

impl<'a> Args<'a> {
    /// Reads the directive's arguments behind the handler's name.
    pub(crate) fn new(conf: Conf<'a>, handler: &'a str) -> Result<Args<'a>, ArgError> {
        let mut given: Vec<Given<'a>> = Vec::new();
        for arg in unquoted(conf)?.into_iter().skip(2) {
            let Some((name, value)) = parse::named(arg) else {
                return Err(ArgError(
                    format!(
                        "invalid parameter \"{}\", it must be name=value",
                        arg.escape_ascii()
                    )
                    .into(),
                ));
            };
            if given.iter().any(|given| given.name == name) {
                return Err(ArgError(
                    format!("duplicate \"{}\" parameter", name.escape_ascii()).into(),
                ));
            }
            given.push(Given {
                name,
                value,
                taken: false,
            });
        }
        Ok(Args {
            conf,
            handler,
            given,
            values: Vec::new(),
            shortest_delay: None,
            reads_stats: false,
        })
    }

    /// An argument of type `T`, if it is given. A constant is checked here.
    ///
    /// # Errors
    ///
    /// The value is no `T`, or has a variable that there is not.
    pub fn get<T: FromArg + 'static>(
        &mut self,
        name: &'static str,
    ) -> Result<Option<Arg<T>>, ArgError> {
        let Some((text, value)) = self.compile(name)? else {
            return Ok(None);
        };
        if value.constant().is_none() {
            let value = self.add(value);
            return Ok(Some(Arg(Source::Variable { name, value })));
        }
        let constant = self.parse(name, text)?;
        Ok(Some(Arg(Source::Constant(constant))))
    }

    /// An argument of type `T` that takes no variables, if it is given.
    ///
    /// # Errors
    ///
    /// The value is no `T`, or has a variable.
    pub fn constant<T: FromArg>(&mut self, name: &'static str) -> Result<Option<T>, ArgError> {
        let Some((text, value)) = self.compile(name)? else {
            return Ok(None);
        };
        if value.constant().is_none() {
            return Err(ArgError(invalid_value(name, text, "a constant").into()));
        }
        self.parse(name, text).map(Some)
    }

    fn parse<T: FromArg>(&mut self, name: &str, text: &[u8]) -> Result<T, ArgError> {
        let Some(constant) = T::parse(text) else {
            return Err(ArgError(invalid_value(name, text, T::MUST_BE).into()));
        };
        if let Some(delay) = constant.as_delay() {
            self.will_wait(delay);
        }
        Ok(constant)
    }

    /// An argument that is a text with variables, if it is given.
    ///
    /// # Errors
    ///
    /// It has a variable that there is not.
    pub fn value(&mut self, name: &'static str) -> Result<Option<Value>, ArgError> {
        let value = self.compile(name)?;
        Ok(value.map(|(_, value)| self.add(value)))
    }

    /// An argument that is a text with variables, if it is given, and is part of a header line.
    ///
    /// # Errors
    ///
    /// It has a variable that there is not, or holds a control character.
    pub fn header_value(&mut self, name: &'static str) -> Result<Option<Value>, ArgError> {
        let Some((text, value)) = self.compile(name)? else {
            return Ok(None);
        };
        if text.is_empty() || !parse::is_header_value(text) {
            return Err(ArgError(invalid_value(name, text, "a line of text").into()));
        }
        Ok(Some(self.add(value)))
    }

    /// Has all workers count in shared memory from this configuration on, and gives what reads
    /// it. Where nobody asks for it they do not count.
    pub fn stats(&mut self) -> Stats {
        self.reads_stats = true;
        Stats::new()
    }

    /// The handler is going to wait for this long.
    pub(crate) fn will_wait(&mut self, delay: Duration) {
        let shortest = self.shortest_delay.get_or_insert(delay);
        *shortest = delay.min(*shortest);
    }

    /// The error for an argument that has to be given, and is not.
    pub fn missing(&self, name: &str) -> ArgError {
        ArgError(
            format!(
                "\"content_by_rust {}\" must have \"{name}\" parameter",
                self.handler
            )
            .into(),
        )
    }

    fn compile(
        &mut self,
        name: &'static str,
    ) -> Result<Option<(&'a [u8], ComplexValue)>, ArgError> {
        let Some(given) = self
            .given
            .iter_mut()
            .find(|given| given.name == name.as_bytes())
        else {
            return Ok(None);
        };
        given.taken = true;
        let text = given.value;
        match self.conf.compile(text) {
            Ok(value) => Ok(Some((text, value))),
            Err(()) => Err(ArgError::LOGGED),
        }
    }

    fn add(&mut self, value: ComplexValue) -> Value {
        self.values.push(value);
        Value(self.values.len() - 1)
    }

    /// Refuses arguments that the handler did not take.
    pub(crate) fn finish(self) -> Result<Finished, ArgError> {
        match self.given.iter().find(|given| !given.taken) {
            Some(given) => {
                let arg = [given.name, b"=", given.value].concat();
                Err(ArgError(
                    format!("invalid parameter \"{}\"", arg.escape_ascii()).into(),
                ))
            }
            None => Ok(Finished {
                values: self.values,
                shortest_delay: self.shortest_delay,
                reads_stats: self.reads_stats,
            }),
        }
    }
}

/// How far back a directive is looked for before the whole file is.
const NEAR: usize = 16 * 1024;

/// The directive's words, with the quotes behind an `=` taken off.
fn unquoted(conf: Conf<'_>) -> Result<Vec<&[u8]>, ArgError> {
    let args = conf.args();
    let Some(quoted) = args.iter().skip(2).find(|arg| quotes::opens_quote(arg)) else {
        return Ok(args);
    };
    // Few directives are longer than a page, and few files longer than a few.
    let words = [NEAR, usize::MAX >> 1].into_iter().find_map(|most| {
        let source = conf.source(most)?;
        quotes::split(source, &args)
    });
    let words = words.ok_or_else(|| {
        ArgError(
            format!(
                "unbalanced quotes in parameter \"{}\", a value with \";\", \"{{\" or \" #\" needs \
                 them around the whole parameter",
                quoted.escape_ascii()
            )
            .into(),
        )
    })?;
    let copied: Option<Vec<&[u8]>> = words.iter().map(|word| conf.copy(word)).collect();
    copied.ok_or_else(|| ArgError::new("no memory for the parameters"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_status_is_one_that_ends_an_answer() {
        for (text, status) in [("200", 200), ("204", 204), ("503", 503), ("999", 999)] {
            assert_eq!(Status::parse(text.as_bytes()), Some(Status(status)));
        }
        for text in [
            "", "0", "99", "100", "101", "199", "1000", "0200", "20x", "-200", "2e2",
        ] {
            assert_eq!(Status::parse(text.as_bytes()), None, "{text:?}");
        }
    }

    #[test]
    fn a_flag_is_on_or_off() {
        assert_eq!(bool::parse(b"on"), Some(true));
        assert_eq!(bool::parse(b"off"), Some(false));
        assert_eq!(bool::parse(b"ON"), None);
        assert_eq!(bool::parse(b""), None);
    }

    #[test]
    fn an_error_shows_what_was_given_on_one_line() {
        assert_eq!(
            invalid_value("delay", b"1\nx\"", <Duration as FromArg>::MUST_BE),
            r#"invalid value "1\nx\"" in "delay" parameter, it must be a time such as "20ms""#
        );
    }
}
