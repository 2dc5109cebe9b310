//! A map in memory that several processes share: values that make room for each other, and
//! counters that stay.
//!
//! All of it lies in memory that an [`Alloc`] gives, at the same address in each process, and
//! whoever uses it holds the lock of that memory. Nothing here panics or waits.
//!
//! An entry is a header with the bytes of its key and of its value behind it. It is in the chain of
//! its key's bucket. A value is in the order of use as well, from which the oldest is taken when
//! memory is short.

use siphasher::sip::SipHasher13;
use std::hash::Hasher;
use std::io::Write;
use std::ptr::NonNull;

/// Where entries come from.
pub(crate) trait Alloc {
    /// Memory of this size, aligned for a pointer.
    fn alloc(&self, size: usize) -> Option<NonNull<u8>>;

    /// No more than this can ever be had at once.
    fn most(&self) -> usize;

    /// # Safety
    ///
    /// `memory` came from [`alloc`](Alloc::alloc), and nobody uses it any more.
    unsafe fn free(&self, memory: NonNull<u8>);
}

/// Why something is not done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Refused {
    /// There is no room, though values have been given up for it.
    Full,
    /// The value is no decimal number of 64 bits, or would be none.
    NoNumber,
}

/// How many values are given up for one entry, at most: they were not used for longest.
pub(crate) const MOST_EVICTED: usize = 30;

/// When a value is over that never is.
pub(crate) const NEVER: u64 = u64::MAX;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Value,
    Counter,
}

type Link = Option<NonNull<Entry>>;

struct Entry {
    /// The next of the same bucket.
    chain: Link,
    newer: Link,
    older: Link,
    hash: u64,
    /// In milliseconds, or [`NEVER`].
    expires: u64,
    key_len: u32,
    value_len: u32,
    kind: Kind,
}

/// The map.
pub(crate) struct Table {
    /// Secret, so that no client can choose keys that are all in one bucket.
    seed: [u64; 2],
    buckets: NonNull<Link>,
    /// One less than the number of buckets, which is a power of two.
    mask: usize,
    newest: Link,
    oldest: Link,
}

/// The memory that an entry needs. Values of about the same length need the same, so that one can
/// take the other's place.
pub(crate) fn entry_size(key: &[u8], value_len: usize) -> Option<usize> {
    u32::try_from(key.len()).ok()?;
    u32::try_from(value_len).ok()?;
    let value_room = value_len.checked_next_multiple_of(32)?;
    (size_of::<Entry>() + key.len()).checked_add(value_room)
}

impl Entry {
    /// The first byte behind the header of an entry.
    fn bytes(entry: NonNull<Entry>) -> *mut u8 {
        // SAFETY: an entry has been allocated with its bytes (invariant 8).
        unsafe { entry.add(1) }.cast().as_ptr()
    }

    fn key<'a>(entry: NonNull<Entry>) -> &'a [u8] {
        // SAFETY: the key lies behind the header (invariant 8).
        unsafe {
            let len = entry.as_ref().key_len as usize;
            std::slice::from_raw_parts(Entry::bytes(entry), len)
        }
    }

    fn value<'a>(entry: NonNull<Entry>) -> &'a [u8] {
        // SAFETY: the value lies behind the key (invariant 8).
        unsafe {
            let (key_len, len) = (entry.as_ref().key_len, entry.as_ref().value_len);
            std::slice::from_raw_parts(Entry::bytes(entry).add(key_len as usize), len as usize)
        }
    }

    /// Puts a value of a length that the entry was made for behind the key.
    fn set_value(mut entry: NonNull<Entry>, value: &[u8]) {
        // SAFETY: the entry has room for the value, which is no part of it (invariant 8).
        unsafe {
            let key_len = entry.as_ref().key_len as usize;
            let place = Entry::bytes(entry).add(key_len);
            place.copy_from_nonoverlapping(value.as_ptr(), value.len());
            entry.as_mut().value_len = value.len() as u32;
        }
    }

    fn is_over(entry: NonNull<Entry>, now: u64) -> bool {
        // SAFETY: the entry is in the table (invariant 8).
        unsafe { entry.as_ref() }.expires <= now
    }
}

impl Table {
    /// An empty map of this many buckets, or a few more.
    pub(crate) fn new(alloc: &impl Alloc, buckets: usize, seed: [u64; 2]) -> Option<Table> {
        let buckets = buckets.checked_next_power_of_two()?;
        let size = buckets.checked_mul(size_of::<Link>())?;
        let place = alloc.alloc(size)?.cast::<Link>();
        for n in 0..buckets {
            // SAFETY: just allocated for as many (invariant 8).
            unsafe { place.add(n).write(None) };
        }
        Some(Table {
            seed,
            buckets: place,
            mask: buckets - 1,
            newest: None,
            oldest: None,
        })
    }

    /// The value of a key, which has been used with that.
    pub(crate) fn get(&mut self, alloc: &impl Alloc, key: &[u8], now: u64) -> Option<&[u8]> {
        let entry = self.live(alloc, key, now)?;
        self.leave_order(entry);
        self.join_order(entry);
        Some(Entry::value(entry))
    }

    /// Gives a key a value. Where this fails the key has none.
    pub(crate) fn set(
        &mut self,
        alloc: &impl Alloc,
        key: &[u8],
        value: &[u8],
        expires: u64,
    ) -> Result<(), Refused> {
        let link = self.find(Kind::Value, key);
        // SAFETY: the link is the table's (invariant 8).
        if let Some(mut entry) = unsafe { *link } {
            let old = Entry::value(entry).len();
            if entry_size(key, old) == entry_size(key, value.len()) {
                Entry::set_value(entry, value);
                // SAFETY: the entry is in the table (invariant 8).
                unsafe { entry.as_mut() }.expires = expires;
                self.leave_order(entry);
                self.join_order(entry);
                return Ok(());
            }
            self.remove(alloc, link);
        }
        self.insert(alloc, Kind::Value, key, value, expires)
    }

    /// Gives a key a value if it has none. False where it has.
    pub(crate) fn add(
        &mut self,
        alloc: &impl Alloc,
        key: &[u8],
        value: &[u8],
        expires: u64,
        now: u64,
    ) -> Result<bool, Refused> {
        if self.live(alloc, key, now).is_some() {
            return Ok(false);
        }
        self.set(alloc, key, value, expires)?;
        Ok(true)
    }

    /// Takes a key's value away. False where it has none.
    pub(crate) fn delete(&mut self, alloc: &impl Alloc, key: &[u8], now: u64) -> bool {
        let Some(entry) = self.live(alloc, key, now) else {
            return false;
        };
        self.remove(alloc, self.link_to(entry));
        true
    }

    /// Adds to a key's value, which is a decimal number; one that there is not is 0, and over at
    /// `expires`.
    pub(crate) fn incr(
        &mut self,
        alloc: &impl Alloc,
        key: &[u8],
        by: i64,
        expires: u64,
        now: u64,
    ) -> Result<i64, Refused> {
        let (old, expires) = match self.live(alloc, key, now) {
            Some(entry) => {
                let text = std::str::from_utf8(Entry::value(entry)).ok();
                let old = text.and_then(|text| text.parse().ok());
                // SAFETY: the entry is in the table (invariant 8).
                let expires = unsafe { entry.as_ref() }.expires;
                (old.ok_or(Refused::NoNumber)?, expires)
            }
            None => (0, expires),
        };
        let new = i64::checked_add(old, by).ok_or(Refused::NoNumber)?;
        let mut text = [0; 20];
        let room = text.len();
        let mut rest = &mut text[..];
        // As long as the longest number.
        let _ = write!(rest, "{new}");
        let len = room - rest.len();
        self.set(alloc, key, text.get(..len).unwrap_or_default(), expires)?;
        Ok(new)
    }

    /// Gives a counter the value that `next` makes of its old one, 0 at first.
    pub(crate) fn count(
        &mut self,
        alloc: &impl Alloc,
        name: &[u8],
        next: impl FnOnce(i64) -> i64,
    ) -> Result<i64, Refused> {
        let new = next(self.counter(name));
        // SAFETY: the link is the table's (invariant 8).
        match unsafe { *self.find(Kind::Counter, name) } {
            Some(entry) => Entry::set_value(entry, &new.to_ne_bytes()),
            None => self.insert(alloc, Kind::Counter, name, &new.to_ne_bytes(), NEVER)?,
        }
        Ok(new)
    }

    /// A counter's value, 0 where there is none.
    pub(crate) fn counter(&self, name: &[u8]) -> i64 {
        // SAFETY: the link is the table's (invariant 8).
        let entry = unsafe { *self.find(Kind::Counter, name) };
        let bytes = entry.and_then(|entry| Entry::value(entry).try_into().ok());
        i64::from_ne_bytes(bytes.unwrap_or_default())
    }

    /// The value entry of a key. One that is over is removed.
    fn live(&mut self, alloc: &impl Alloc, key: &[u8], now: u64) -> Link {
        let link = self.find(Kind::Value, key);
        // SAFETY: the link is the table's (invariant 8).
        let entry = unsafe { *link }?;
        if Entry::is_over(entry, now) {
            self.remove(alloc, link);
            return None;
        }
        Some(entry)
    }

    fn hash(&self, key: &[u8]) -> u64 {
        let mut hasher = SipHasher13::new_with_keys(self.seed[0], self.seed[1]);
        hasher.write(key);
        hasher.finish()
    }

    fn bucket(&self, hash: u64) -> *mut Link {
        // SAFETY: there are as many buckets as the mask has values (invariant 8).
        unsafe { self.buckets.add(hash as usize & self.mask) }.as_ptr()
    }

    /// The link that leads to a key's entry, or the empty one at the end of its bucket.
    fn find(&self, kind: Kind, key: &[u8]) -> *mut Link {
        let hash = self.hash(key);
        let mut link = self.bucket(hash);
        // SAFETY: all links of a bucket lead to entries of the table (invariant 8).
        unsafe {
            while let Some(entry) = *link {
                let this = entry.as_ref();
                if this.hash == hash && this.kind == kind && Entry::key(entry) == key {
                    break;
                }
                link = &raw mut (*entry.as_ptr()).chain;
            }
        }
        link
    }

    /// The link that leads to an entry of the table.
    fn link_to(&self, entry: NonNull<Entry>) -> *mut Link {
        // SAFETY: the entry is in its bucket, and so before the end (invariant 8).
        unsafe {
            let mut link = self.bucket(entry.as_ref().hash);
            while let Some(other) = *link {
                if other == entry {
                    break;
                }
                link = &raw mut (*other.as_ptr()).chain;
            }
            link
        }
    }

    fn insert(
        &mut self,
        alloc: &impl Alloc,
        kind: Kind,
        key: &[u8],
        value: &[u8],
        expires: u64,
    ) -> Result<(), Refused> {
        let size = entry_size(key, value.len()).ok_or(Refused::Full)?;
        let entry = self.make_room(alloc, size).ok_or(Refused::Full)?;
        let hash = self.hash(key);
        let link = self.bucket(hash);
        // SAFETY: just allocated for header, key and value; the bucket is the table's
        // (invariant 8).
        unsafe {
            entry.write(Entry {
                chain: *link,
                newer: None,
                older: None,
                hash,
                expires,
                key_len: key.len() as u32,
                value_len: 0,
                kind,
            });
            Entry::bytes(entry).copy_from_nonoverlapping(key.as_ptr(), key.len());
            *link = Some(entry);
        }
        Entry::set_value(entry, value);
        if kind == Kind::Value {
            self.join_order(entry);
        }
        Ok(())
    }

    /// Allocates an entry, and gives up values for it that were not used for longest.
    fn make_room(&mut self, alloc: &impl Alloc, size: usize) -> Option<NonNull<Entry>> {
        if size > alloc.most() {
            return None;
        }
        for _ in 0..MOST_EVICTED {
            if let Some(memory) = alloc.alloc(size) {
                return Some(memory.cast());
            }
            let oldest = self.oldest?;
            self.remove(alloc, self.link_to(oldest));
        }
        alloc.alloc(size).map(NonNull::cast)
    }

    /// Removes the entry that a link leads to.
    fn remove(&mut self, alloc: &impl Alloc, link: *mut Link) {
        // SAFETY: the link is the table's, and nobody else uses the entry (invariant 8).
        unsafe {
            let Some(entry) = *link else { return };
            *link = entry.as_ref().chain;
            if entry.as_ref().kind == Kind::Value {
                self.leave_order(entry);
            }
            alloc.free(entry.cast());
        }
    }

    /// Makes an entry the one that was used last.
    fn join_order(&mut self, mut entry: NonNull<Entry>) {
        // SAFETY: the entry is in the table, and so is the newest (invariant 8).
        unsafe {
            entry.as_mut().newer = None;
            entry.as_mut().older = self.newest;
            match self.newest {
                Some(mut newest) => newest.as_mut().newer = Some(entry),
                None => self.oldest = Some(entry),
            }
        }
        self.newest = Some(entry);
    }

    /// Takes an entry out of the order of use.
    fn leave_order(&mut self, entry: NonNull<Entry>) {
        // SAFETY: the entry and its neighbours are in the table (invariant 8).
        unsafe {
            let (newer, older) = (entry.as_ref().newer, entry.as_ref().older);
            match newer {
                Some(mut newer) => newer.as_mut().older = older,
                None => self.newest = older,
            }
            match older {
                Some(mut older) => older.as_mut().newer = newer,
                None => self.oldest = newer,
            }
        }
    }
}
