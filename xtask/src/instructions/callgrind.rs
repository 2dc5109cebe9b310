//! Reading callgrind's files: how many instructions each function took, and who called whom.

use std::collections::HashMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};

/// The module's file, as callgrind names it.
const MODULE: &str = "/ngx_http_rust_module.so";
/// What asks the heap for memory or gives it back.
const HEAP: [&str; 7] = [
    "malloc",
    "calloc",
    "realloc",
    "free",
    "posix_memalign",
    "memalign",
    "aligned_alloc",
];
/// What asks a pool of nginx's for memory.
const POOL: [&str; 6] = [
    "ngx_palloc",
    "ngx_pnalloc",
    "ngx_pcalloc",
    "ngx_pmemalign",
    "ngx_pool_cleanup_add",
    "ngx_create_pool",
];

/// A function and the object file it is in.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Function {
    pub object: String,
    pub name: String,
}

impl Function {
    pub fn is_of_module(&self) -> bool {
        self.object.ends_with(MODULE)
    }

    fn is_of_libc(&self) -> bool {
        let file = self.object.rsplit('/').next().unwrap_or_default();
        file.starts_with("libc.so") || file.starts_with("libc-")
    }

    /// The name without a version behind it (`free@@GLIBC_2.2.5`) and without callgrind's mark of recursion (`f'2`).
    pub fn plain_name(&self) -> &str {
        let name = self.name.split('@').next().unwrap_or_default();
        match name.rsplit_once('\'') {
            Some((name, depth)) if depth.bytes().all(|c| c.is_ascii_digit()) => name,
            _ => name,
        }
    }
}

/// How often one function called another, and the instructions of that, with all that was called in turn.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Calls {
    pub count: f64,
    pub instructions: f64,
}

/// Instructions of one run, or of one request.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// Instructions of each function itself.
    pub own: HashMap<Function, f64>,
    /// By caller and called.
    pub calls: HashMap<(Function, Function), Calls>,
}

impl Profile {
    /// Reads a file that was written with `--compress-strings=no --compress-pos=no`.
    pub fn read(path: &Path) -> Result<Self> {
        let text = fs::read(path).with_context(|| format!("reading {}", path.display()))?;
        Self::parse(&String::from_utf8_lossy(&text))
            .with_context(|| format!("{} is not what callgrind writes", path.display()))
    }

    /// `None` where there is no total, or the functions do not add up to it.
    fn parse(text: &str) -> Option<Self> {
        let mut profile = Self::default();
        let mut total = None;
        let (mut object, mut function) = (String::new(), None::<Function>);
        let (mut called_object, mut called) = (None::<String>, None::<Function>);
        let mut count = None::<f64>;
        for line in text.lines() {
            match line.split_once('=') {
                Some(("ob", name)) => object = name.to_owned(),
                Some(("fn", name)) => {
                    function = Some(Function {
                        object: object.clone(),
                        name: name.to_owned(),
                    });
                }
                Some(("cob", name)) => called_object = Some(name.to_owned()),
                Some(("cfn", name)) => {
                    called = Some(Function {
                        object: called_object.take().unwrap_or_else(|| object.clone()),
                        name: name.to_owned(),
                    });
                }
                Some(("calls", rest)) => {
                    count = Some(rest.split_whitespace().next()?.parse().ok()?);
                }
                _ => {}
            }
            if let Some(numbers) = line
                .strip_prefix("totals:")
                .or_else(|| line.strip_prefix("summary:"))
            {
                total = Some(numbers.trim().parse::<f64>().ok()?);
            }
            // `LINE COST`, of the function itself or, right behind `calls=`, of the call.
            if !line.starts_with(|c: char| c.is_ascii_digit()) {
                continue;
            }
            let cost: f64 = match line.split_whitespace().nth(1) {
                Some(cost) => cost.parse().ok()?,
                None => 0.0,
            };
            let function = function.clone()?;
            match count.take() {
                Some(count) => {
                    let calls = profile.calls.entry((function, called.take()?)).or_default();
                    calls.count += count;
                    calls.instructions += cost;
                }
                None => *profile.own.entry(function).or_default() += cost,
            }
        }
        (total? == profile.total()).then_some(profile)
    }

    /// What each request took, from a run of few and a run of many: all that comes once for each run or connection, or
    /// for each of the last requests, is in both and goes out.
    pub fn per_request(few: (&Self, u64), many: (&Self, u64)) -> Self {
        let requests = (many.1 - few.1) as f64;
        let mut profile = many.0.clone();
        for (function, cost) in &few.0.own {
            *profile.own.entry(function.clone()).or_default() -= cost;
        }
        for (edge, calls) in &few.0.calls {
            let entry = profile.calls.entry(edge.clone()).or_default();
            entry.count -= calls.count;
            entry.instructions -= calls.instructions;
        }
        for cost in profile.own.values_mut() {
            *cost /= requests;
        }
        for calls in profile.calls.values_mut() {
            calls.count /= requests;
            calls.instructions /= requests;
        }
        profile
    }

    pub fn total(&self) -> f64 {
        self.own.values().sum()
    }

    /// What the module's functions took themselves.
    pub fn module(&self) -> f64 {
        let own = self.own.iter();
        own.filter(|(function, _)| function.is_of_module())
            .fold(0.0, |sum, (_, cost)| sum + cost)
    }

    /// All that the heap was asked for, whoever asked. Calls within libc are part of others, and not counted again.
    pub fn heap(&self) -> Calls {
        self.sum(|caller, called| {
            !caller.is_of_libc() && called.is_of_libc() && HEAP.contains(&called.plain_name())
        })
    }

    /// What the module asked the heap for.
    pub fn heap_of_module(&self) -> Calls {
        self.sum(|caller, called| {
            caller.is_of_module() && called.is_of_libc() && HEAP.contains(&called.plain_name())
        })
    }

    /// What the module asked pools for.
    pub fn pool_of_module(&self) -> Calls {
        self.sum(|caller, called| caller.is_of_module() && POOL.contains(&called.plain_name()))
    }

    fn sum(&self, is_meant: impl Fn(&Function, &Function) -> bool) -> Calls {
        let edges = self.calls.iter();
        edges
            .filter(|((caller, called), _)| is_meant(caller, called))
            .fold(Calls::default(), |sum, (_, calls)| Calls {
                count: sum.count + calls.count,
                instructions: sum.instructions + calls.instructions,
            })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "# callgrind format
version: 1
positions: line
events: Ir

ob=/usr/sbin/nginx
fl=???
fn=ngx_palloc
0 20
cob=/lib/x86_64-linux-gnu/libc.so.6
cfi=./malloc/malloc.c
cfn=posix_memalign
calls=2 0
0 300

fn=ngx_http_handler
0 40
cob=/m/ngx_http_rust_module.so
cfi=???
cfn=content_by_rust::task::start
calls=1 0
0 130

ob=/lib/x86_64-linux-gnu/libc.so.6
fl=./malloc/malloc.c
fn=posix_memalign
10 100
cfn=malloc
calls=2 0
12 200

fn=malloc
10 150
fi=./malloc/arena.c
11 50

ob=/m/ngx_http_rust_module.so
fl=???
fn=content_by_rust::task::start
0 90
cob=/usr/sbin/nginx
cfi=???
cfn=ngx_palloc
calls=1 0
0 25
cob=/lib/x86_64-linux-gnu/libc.so.6
cfi=./malloc/malloc.c
cfn=free@@GLIBC_2.2.5
calls=1 0
0 15

totals: 450
";

    fn function(object: &str, name: &str) -> Function {
        Function {
            object: object.into(),
            name: name.into(),
        }
    }

    #[test]
    fn own_cost_and_that_of_calls_are_told_apart() {
        let profile = Profile::parse(FILE).unwrap();
        assert_eq!(profile.total(), 450.0);
        assert_eq!(profile.module(), 90.0);
        let start = function("/m/ngx_http_rust_module.so", "content_by_rust::task::start");
        let palloc = function("/usr/sbin/nginx", "ngx_palloc");
        assert_eq!(
            profile.calls[&(start, palloc)],
            Calls {
                count: 1.0,
                instructions: 25.0
            }
        );
    }

    #[test]
    fn the_heap_is_counted_once_and_for_who_asked() {
        let profile = Profile::parse(FILE).unwrap();
        assert_eq!(profile.heap().count, 3.0);
        assert_eq!(profile.heap().instructions, 315.0);
        assert_eq!(profile.heap_of_module().count, 1.0);
        assert_eq!(profile.pool_of_module().count, 1.0);
    }

    #[test]
    fn what_two_runs_share_goes_out() {
        let few = Profile::parse(FILE).unwrap();
        let many = Profile::parse(
            &FILE
                .replace("\n0 90\n", "\n0 1090\n")
                .replace("totals: 450", "totals: 1450"),
        )
        .unwrap();
        let each = Profile::per_request((&few, 500), (&many, 1000));
        assert_eq!(each.total(), 2.0);
        assert_eq!(each.module(), 2.0);
        assert_eq!(each.heap().count, 0.0);
    }

    #[test]
    fn a_file_cut_short_is_refused() {
        assert!(Profile::parse(&FILE.replace("totals: 450\n", "")).is_none());
        assert!(Profile::parse(&FILE.replace("\n0 40\n", "\n0 4\n")).is_none());
        assert!(Profile::parse("").is_none());
    }

    #[test]
    fn names_without_version_and_recursion() {
        assert_eq!(function("", "free@@GLIBC_2.2.5'2").plain_name(), "free");
        assert_eq!(function("", "f'2").plain_name(), "f");
        assert_eq!(function("", "<'a> f").plain_name(), "<'a> f");
    }
}
