//! What all workers know: maps and counters in shared memory.

pub(crate) mod table;

use self::table::{NEVER, Refused};
use crate::abi::{self, Zone};
use crate::memory;
use crate::module;
use crate::response::{Error, Result};
use crate::worker;
use std::fmt;
use std::marker::PhantomData;
use std::time::Duration;

/// A map and counters in the shared memory of `rust_shared_zone NAME SIZE;`. All workers have the
/// same, and it outlives a reload that leaves the zone's size as it is.
///
/// Keys and values are bytes. When a zone is full, new values take the place of those that have
/// not been used for longest; counters stay.
///
/// Each call locks the zone for as long as it takes, and none waits for anything else. A worker
/// that is killed while it changes a zone leaves it in no order: the next to use it empties it,
/// counters included, and says so in the error log at `alert`.
///
/// ```
/// # use content_by_rust::{Error, Request, Response, Result, SharedZone};
/// # use std::time::Duration;
/// async fn greet(request: &mut Request) -> Result<Response> {
///     let zone = SharedZone::find("greetings")?;
///     let client = request.client_address();
///     if zone.incr(client, 1, Some(Duration::from_secs(60)))? > 10 {
///         return Err(Error::new(429));
///     }
///     let all = zone.counter("all").add(1)?;
///     Ok(Response::text(format!("hi, this is greeting {all}\n")))
/// }
/// ```
#[derive(Clone, Copy)]
pub struct SharedZone<'n> {
    name: &'n str,
    _event_thread: PhantomData<*const ()>,
}

/// A number in a [`SharedZone`], found by its name, and 0 at first. Its name has nothing to do
/// with a key of the map. It is never given up.
#[derive(Clone, Copy)]
pub struct Counter<'n> {
    zone: SharedZone<'n>,
    name: &'n str,
}

/// Why something cannot be done in a [`SharedZone`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum SharedError {
    /// There is no room: the zone is full of counters, or the value is larger than what the values
    /// make room for that were not used for longest, of which up to 30 are given up.
    Full,
    /// A value is no number, or the sum would be none: see [`SharedZone::incr`].
    NoNumber,
    /// nginx runs without a master, and has read a configuration without the zone meanwhile.
    Gone,
}

impl<'n> SharedZone<'n> {
    /// The zone of this name.
    ///
    /// # Errors
    ///
    /// 500, where the configuration has none, or this is not the event thread of a worker: in
    /// [`Handler::configure`](crate::Handler::configure) there is no zone yet.
    pub fn find(name: &'n str) -> Result<SharedZone<'n>> {
        let zone = SharedZone {
            name,
            _event_thread: PhantomData,
        };
        match zone.zone() {
            Ok(_) => Ok(zone),
            Err(_) => {
                let shown = name.escape_debug();
                Err(Error::new(500).because(format_args!("unknown shared zone \"{shown}\"")))
            }
        }
    }

    /// Looked up each time, as nginx may have taken up another configuration.
    fn zone(&self) -> Result<Zone, SharedError> {
        worker::here().ok_or(SharedError::Gone)?;
        module::shared_zone(self.name.as_bytes()).ok_or(SharedError::Gone)
    }

    /// The value of a key.
    ///
    /// # Panics
    ///
    /// Where memory is short.
    pub fn get(&self, key: impl AsRef<[u8]>) -> Option<Vec<u8>> {
        let (key, now) = (key.as_ref(), abi::cached_now());
        let zone = self.zone().ok()?;
        let copy = zone.with(|table, slab| table.get(slab, key, now).map(memory::copied));
        copy.map(|copy| copy.expect("memory for a value"))
    }

    /// Gives a key a value, in place of the one it may have. After `ttl` it is over; without one
    /// it never is.
    ///
    /// # Errors
    ///
    /// [`SharedError::Full`]: the key has no value then.
    pub fn set(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Option<Duration>,
    ) -> Result<(), SharedError> {
        let (key, value) = (key.as_ref(), value.as_ref());
        let set = self
            .zone()?
            .with(|table, slab| table.set(slab, key, value, expires(ttl)));
        Ok(set?)
    }

    /// As [`set`](SharedZone::set), if the key has no value. False where it has.
    ///
    /// # Errors
    ///
    /// As for [`set`](SharedZone::set).
    pub fn add(
        &self,
        key: impl AsRef<[u8]>,
        value: impl AsRef<[u8]>,
        ttl: Option<Duration>,
    ) -> Result<bool, SharedError> {
        let (key, value, now) = (key.as_ref(), value.as_ref(), abi::cached_now());
        let added = self
            .zone()?
            .with(|table, slab| table.add(slab, key, value, expires(ttl), now));
        Ok(added?)
    }

    /// Takes a key's value away. False where it has none.
    pub fn delete(&self, key: impl AsRef<[u8]>) -> bool {
        let (key, now) = (key.as_ref(), abi::cached_now());
        self.zone()
            .is_ok_and(|zone| zone.with(|table, slab| table.delete(slab, key, now)))
    }

    /// Adds to the number that is a key's value, and gives the sum. A number is a text:
    /// [`get`](SharedZone::get) gives `b"42"`, and [`set`](SharedZone::set) may have put it there.
    ///
    /// Where the key has no value it is 0, and over after `ttl`; one that it has keeps its time.
    ///
    /// # Errors
    ///
    /// [`SharedError::NoNumber`], where the value is no decimal number, or the sum is beyond an
    /// `i64`; the value stays as it is. [`SharedError::Full`].
    pub fn incr(
        &self,
        key: impl AsRef<[u8]>,
        by: i64,
        ttl: Option<Duration>,
    ) -> Result<i64, SharedError> {
        let (key, now) = (key.as_ref(), abi::cached_now());
        let sum = self
            .zone()?
            .with(|table, slab| table.incr(slab, key, by, expires(ttl), now));
        Ok(sum?)
    }

    /// A counter of this zone.
    pub fn counter(&self, name: &'n str) -> Counter<'n> {
        Counter { zone: *self, name }
    }
}

impl Counter<'_> {
    /// Adds, and gives the sum. Beyond an `i64` it goes on at the other end.
    ///
    /// # Errors
    ///
    /// [`SharedError::Full`], where the counter is new and there is no room for it.
    pub fn add(&self, by: i64) -> Result<i64, SharedError> {
        self.change(|old| old.wrapping_add(by))
    }

    /// Sets the number.
    ///
    /// # Errors
    ///
    /// As for [`add`](Counter::add).
    pub fn set(&self, number: i64) -> Result<(), SharedError> {
        self.change(|_| number)?;
        Ok(())
    }

    /// The number.
    pub fn get(&self) -> i64 {
        let name = self.name.as_bytes();
        self.zone
            .zone()
            .map_or(0, |zone| zone.with(|table, _| table.counter(name)))
    }

    fn change(&self, next: impl FnOnce(i64) -> i64) -> Result<i64, SharedError> {
        let name = self.name.as_bytes();
        let zone = self.zone.zone()?;
        Ok(zone.with(|table, slab| table.count(slab, name, next))?)
    }
}

/// When a value is over that lives so long from now. The shortest time is a millisecond.
fn expires(ttl: Option<Duration>) -> u64 {
    let Some(ttl) = ttl else { return NEVER };
    let msec = u64::try_from(ttl.as_micros().div_ceil(1000)).unwrap_or(NEVER);
    abi::cached_now().saturating_add(msec)
}

impl From<Refused> for SharedError {
    fn from(refused: Refused) -> SharedError {
        match refused {
            Refused::Full => SharedError::Full,
            Refused::NoNumber => SharedError::NoNumber,
        }
    }
}

impl fmt::Display for SharedError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            SharedError::Full => "no room in the shared zone",
            SharedError::NoNumber => "the value in the shared zone is no number, or too large",
            SharedError::Gone => "the shared zone is gone",
        })
    }
}

impl std::error::Error for SharedError {}

impl fmt::Debug for SharedZone<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("SharedZone").field(&self.name).finish()
    }
}

impl fmt::Debug for Counter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Counter")
            .field("zone", &self.zone.name)
            .field("name", &self.name)
            .finish()
    }
}
