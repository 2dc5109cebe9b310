//! Directives -> a location's configuration: reading, merging, and the messages.

use crate::abi::{self, ComplexValue, Conf, Kept, ScoreboardZone, Zone};
use crate::args::{ArgError, Args};
use crate::module::{Table, content_handler};
use crate::panics;
use crate::task::Start;
use nginx_sys::{NGX_LOG_EMERG, ngx_flag_t, ngx_int_t, ngx_module_t, ngx_msec_t};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

/// What nginx's own setters write where a directive has not been given.
const UNSET_FLAG: ngx_flag_t = -1;
const UNSET_MSEC: ngx_msec_t = ngx_msec_t::MAX;
const UNSET_NUMBER: ngx_int_t = -1;

const DEFAULT_MAX_DELAY: ngx_msec_t = 60_000;

/// More requests than can wait.
const NO_LIMIT: ngx_int_t = ngx_int_t::MAX;

/// What `content_by_rust` made of a location: a handler with its arguments.
pub(crate) struct Content {
    pub(crate) name: &'static str,
    /// Which of the module's handlers it is.
    pub(crate) number: usize,
    pub(crate) handler: Box<dyn Start>,
    /// What a [`Value`](crate::Value) counts in.
    pub(crate) values: Vec<ComplexValue>,
}

/// The configuration of a location, server or `http` block. nginx's own setters write the
/// directives' fields, so these have nginx's types.
#[repr(C)]
pub(crate) struct LocationConf {
    pub(crate) ignore_client_abort: ngx_flag_t,
    pub(crate) max_delay: ngx_msec_t,
    pub(crate) max_pending: ngx_int_t,
    pub(crate) content: Option<Kept<Content>>,
}

/// The configuration of the `http` block, with nginx's types for the fields that nginx writes.
#[repr(C)]
pub(crate) struct MainConf {
    #[cfg(feature = "tokio")]
    pub(crate) tokio_threads: ngx_int_t,
    /// The shortest delay that a location's constants ask for.
    pub(crate) shortest_delay: Option<Duration>,
    shared_zones: Vec<Zone>,
    /// Where the workers count, if they do.
    pub(crate) counting: Option<Counting>,
}

/// That workers count.
pub(crate) struct Counting {
    pub(crate) zone: ScoreboardZone,
    /// The handlers' names, by their numbers.
    pub(crate) handlers: Vec<&'static str>,
}

impl Counting {
    fn add(conf: Conf<'_>, table: &Table) -> Result<Counting, ArgError> {
        let handlers: Vec<&str> = table.all_handlers().map(|entry| entry.name).collect();
        let zone = ScoreboardZone::add(conf, handlers.len(), table.module());
        Ok(Counting {
            zone: zone.map_err(|()| ArgError::LOGGED)?,
            handlers,
        })
    }
}

impl MainConf {
    pub(crate) fn new() -> MainConf {
        MainConf {
            #[cfg(feature = "tokio")]
            tokio_threads: UNSET_NUMBER,
            shortest_delay: None,
            shared_zones: Vec::new(),
            counting: None,
        }
    }

    /// The zone of this name.
    pub(crate) fn shared_zone(&self, name: &[u8]) -> Option<Zone> {
        let mut zones = self.shared_zones.iter();
        zones.find(|zone| zone.name() == name).copied()
    }

    #[cfg(feature = "tokio")]
    pub(crate) fn tokio_threads(&self) -> usize {
        usize::try_from(self.tokio_threads).unwrap_or(1)
    }
}

impl LocationConf {
    pub(crate) fn new() -> LocationConf {
        LocationConf {
            ignore_client_abort: UNSET_FLAG,
            max_delay: UNSET_MSEC,
            max_pending: UNSET_NUMBER,
            content: None,
        }
    }

    /// Takes what this block does not say from the block around it.
    ///
    /// An `if` or `limit_except` block answers with its location's handler, so that is taken
    /// too. A location inside another one is a location of its own.
    pub(crate) fn merge(&mut self, conf: Conf<'_>, outer: &LocationConf) {
        if self.ignore_client_abort == UNSET_FLAG {
            self.ignore_client_abort = match outer.ignore_client_abort {
                UNSET_FLAG => 0,
                flag => flag,
            };
        }
        if self.max_delay == UNSET_MSEC {
            self.max_delay = match outer.max_delay {
                UNSET_MSEC => DEFAULT_MAX_DELAY,
                msec => msec,
            };
        }
        if self.max_pending == UNSET_NUMBER {
            self.max_pending = outer.max_pending;
        }
        if matches!(self.max_pending, UNSET_NUMBER | 0) {
            self.max_pending = NO_LIMIT;
        }
        if self.content.is_none() && outer.content.is_some() && conf.is_nameless() {
            self.content = outer.content;
            conf.inherit_location_handler(content_handler);
        }
    }

    /// A value of the location's handler, by its number.
    pub(crate) fn value(&self, index: usize) -> Option<&ComplexValue> {
        self.content.as_ref()?.values.get(index)
    }

    pub(crate) fn ignores_client_abort(&self) -> bool {
        self.ignore_client_abort == 1
    }

    /// Whether a request may begin while so many wait.
    #[inline]
    pub(crate) fn admits(&self, waiting: usize) -> bool {
        (waiting as ngx_int_t) < self.max_pending
    }

    pub(crate) fn max_delay(&self) -> Duration {
        Duration::from_millis(self.max_delay as u64)
    }
}

/// `content_by_rust HANDLER [NAME=VALUE ...];`
///
/// # Errors
///
/// What nginx logs with the file and the line.
pub(crate) fn content_by_rust(
    conf: Conf<'_>,
    location: &mut LocationConf,
    main: &mut MainConf,
    table: &Table,
) -> Result<(), ArgError> {
    let name = conf.args()[1];
    let mut all = table.all_handlers().enumerate();
    let Some((number, entry)) = all.find(|(_, entry)| entry.name.as_bytes() == name) else {
        return Err(unknown_handler(name, table));
    };

    let mut args = Args::new(conf, entry.name)?;
    // A reload reads a configuration in the master, which must outlive a handler's mistake.
    let handler = catch_unwind(AssertUnwindSafe(|| (entry.configure)(&mut args)))
        .unwrap_or_else(|payload| {
            let message = panics::message(&*payload).to_owned();
            panics::discard(payload);
            Err(ArgError::new(format!(
                "handler \"{name}\" panicked: {message}",
                name = entry.name
            )))
        })?
        .into();
    let finished = args.finish()?;
    if finished.reads_stats && main.counting.is_none() {
        main.counting = Some(Counting::add(conf, table)?);
    }

    let content = Content {
        name: entry.name,
        number,
        handler,
        values: finished.values,
    };
    location.content = Some(
        conf.keep(content)
            .ok_or_else(|| ArgError::new("no memory for the handler"))?,
    );
    main.shortest_delay = match (main.shortest_delay, finished.shortest_delay) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    abi::set_location_handler(conf, content_handler);
    Ok(())
}

/// `rust_shared_zone NAME SIZE;`
///
/// # Errors
///
/// What nginx logs with the file and the line.
pub(crate) fn rust_shared_zone(
    conf: Conf<'_>,
    main: &mut MainConf,
    module: *const ngx_module_t,
) -> Result<(), ArgError> {
    let args = conf.args();
    let (name, size) = (args[1], args[2]);
    if name.is_empty() {
        return Err(ArgError::new("invalid zone name \"\""));
    }
    let Some(bytes) = abi::parse_size(size) else {
        let shown = size.escape_ascii();
        return Err(ArgError::new(format!("invalid zone size \"{shown}\"")));
    };
    if bytes < Zone::smallest() {
        let shown = name.escape_ascii();
        return Err(ArgError::new(format!("zone \"{shown}\" is too small")));
    }
    let zone = Zone::add(conf, name, bytes, module).map_err(|()| ArgError::LOGGED)?;
    main.shared_zones.push(zone);
    Ok(())
}

fn unknown_handler(name: &[u8], table: &Table) -> ArgError {
    let mut names: Vec<&str> = table.all_handlers().map(|entry| entry.name).collect();
    names.sort_unstable();
    ArgError::new(format!(
        "unknown handler \"{}\", there are: {}",
        name.escape_ascii(),
        names.join(", ")
    ))
}

/// Logs why a directive is refused.
pub(crate) fn log_refusal(conf: Conf<'_>, error: &ArgError) {
    if !error.is_logged() {
        conf.log(NGX_LOG_EMERG as usize, error);
    }
}
