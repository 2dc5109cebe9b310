//! `docs/unsafe.md`, the inventory of unsafe code by the invariant that it leans on, is what the source says.
//!
//! `UNSAFE=overwrite cargo test -p xtask --test unsafe_code` writes it again.

mod support;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use proc_macro2::{Delimiter, Span, TokenStream, TokenTree};
use support::{root, texts};
use syn::visit::{self, Visit};

/// Where unsafe code is written, by the beginnings of the paths in `src/`: invariant 6.
const ROOMS: [&str; 7] = [
    "abi/",
    "module.rs",
    "shared/",
    "sleep/",
    "task.rs",
    "wake/",
    "worker.rs",
];

const INVENTORY: &str = "docs/unsafe.md";

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Block,
    Impl,
    /// Its callers promise what its documentation says.
    Function,
    /// nginx alone calls it.
    Callback,
    /// `#[unsafe(no_mangle)]`
    Attribute,
}

/// One `unsafe`.
#[derive(Debug)]
struct Found {
    kind: Kind,
    /// The function or the macro that it is in, or the function that it is.
    within: String,
    line: usize,
    /// What its SAFETY line or its documentation says.
    reason: String,
}

impl Found {
    /// It says by itself why it holds.
    fn is_reasoned(&self) -> bool {
        !matches!(self.kind, Kind::Function | Kind::Callback)
    }

    /// The numbers in `(invariant 6)` and `(invariants 1 and 3)`.
    fn invariants(&self) -> BTreeSet<u32> {
        let parts = self.reason.split("invariant").skip(1);
        let words = parts.flat_map(|part| {
            let part = part.strip_prefix('s').unwrap_or(part);
            let numbers = part
                .split([' ', ',', ')', ':', '.', ';'])
                .filter(|word| !word.is_empty());
            numbers.map_while(|word| match word {
                "and" => Some(None),
                word => word.parse().ok().map(Some),
            })
        });
        words.flatten().collect()
    }
}

/// Collects what one file has, without its tests.
struct Finder<'a> {
    lines: Vec<&'a str>,
    within: Vec<String>,
    /// Of an `impl`, in front of its functions.
    of: String,
    of_trait: bool,
    found: Vec<Found>,
}

fn find(source: &str) -> Vec<Found> {
    let mut finder = Finder {
        lines: source.lines().collect(),
        within: Vec::new(),
        of: String::new(),
        of_trait: false,
        found: Vec::new(),
    };
    finder.visit_file(&syn::parse_file(source).expect("it compiles"));
    finder.found
}

impl Finder<'_> {
    fn add(&mut self, kind: Kind, span: Span, reason: Option<String>) {
        let line = span.start().line;
        let reason = reason.unwrap_or_else(|| self.safety(line));
        let within = self.within.last().cloned();
        self.found.push(Found {
            kind,
            within: within.unwrap_or_else(|| self.of.clone()),
            line,
            reason,
        });
    }

    /// The nearest SAFETY comment above a line, in the same function.
    fn safety(&self, line: usize) -> String {
        let above = &self.lines[..line];
        let is_end = |text: &str| text == "}" || text == "    }";
        let starts = above
            .iter()
            .rposition(|text| is_end(text))
            .map_or(0, |at| at + 1);
        let is_reason = |text: &&str| text.trim_start().starts_with("// SAFETY:");
        let Some(at) = above[starts..].iter().rposition(is_reason) else {
            return String::new();
        };
        let comment = above[starts + at..].iter().map(|text| text.trim_start());
        let comment = comment.map_while(|text| text.strip_prefix("//"));
        comment.collect::<Vec<_>>().join("")
    }

    /// Without attributes it is a trait's, whose declaration says what is promised.
    fn function(&mut self, signature: &syn::Signature, attributes: Option<&[syn::Attribute]>) {
        let name = signature.ident.to_string();
        let name = match self.of.as_str() {
            "" => name,
            of => format!("{of}::{name}"),
        };
        self.within.push(name);
        if let (Some(keyword), Some(attributes)) = (signature.unsafety, attributes) {
            let mut documentation = String::new();
            for attribute in attributes
                .iter()
                .filter(|attribute| attribute.path().is_ident("doc"))
            {
                if let syn::Meta::NameValue(doc) = &attribute.meta
                    && let syn::Expr::Lit(syn::ExprLit {
                        lit: syn::Lit::Str(text),
                        ..
                    }) = &doc.value
                {
                    documentation += &text.value();
                    documentation.push('\n');
                }
            }
            let kind = match signature.abi {
                Some(_) => Kind::Callback,
                None => Kind::Function,
            };
            self.add(kind, keyword.span, Some(documentation));
        }
    }

    /// What a macro is made of is no syntax tree, but tokens.
    fn tokens(&mut self, tokens: TokenStream) {
        let mut tokens = tokens.into_iter().peekable();
        while let Some(token) = tokens.next() {
            match token {
                TokenTree::Group(group) => self.tokens(group.stream()),
                TokenTree::Ident(ident) if ident == "unsafe" => match tokens.peek() {
                    Some(TokenTree::Group(group)) if group.delimiter() == Delimiter::Brace => {
                        self.add(Kind::Block, ident.span(), None);
                    }
                    Some(TokenTree::Group(_)) => self.add(Kind::Attribute, ident.span(), None),
                    Some(TokenTree::Ident(next)) if next == "impl" => {
                        self.add(Kind::Impl, ident.span(), None);
                    }
                    next => panic!("unsafe in front of {next:?}, in a macro"),
                },
                _ => (),
            }
        }
    }
}

fn is_test(attributes: &[syn::Attribute]) -> bool {
    let of_test = |attribute: &syn::Attribute| {
        attribute.path().is_ident("cfg")
            && attribute
                .parse_args::<syn::Ident>()
                .is_ok_and(|name| name == "test")
    };
    attributes.iter().any(of_test)
}

impl<'ast> Visit<'ast> for Finder<'_> {
    fn visit_item_mod(&mut self, item: &'ast syn::ItemMod) {
        if !is_test(&item.attrs) {
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_fn(&mut self, item: &'ast syn::ItemFn) {
        let of = std::mem::take(&mut self.of);
        self.function(&item.sig, Some(&item.attrs));
        visit::visit_item_fn(self, item);
        self.within.pop();
        self.of = of;
    }

    fn visit_impl_item_fn(&mut self, item: &'ast syn::ImplItemFn) {
        let attributes = (!self.of_trait).then_some(item.attrs.as_slice());
        self.function(&item.sig, attributes);
        visit::visit_impl_item_fn(self, item);
        self.within.pop();
    }

    fn visit_trait_item_fn(&mut self, item: &'ast syn::TraitItemFn) {
        self.function(&item.sig, Some(&item.attrs));
        visit::visit_trait_item_fn(self, item);
        self.within.pop();
    }

    fn visit_item_trait(&mut self, item: &'ast syn::ItemTrait) {
        let of = std::mem::replace(&mut self.of, item.ident.to_string());
        visit::visit_item_trait(self, item);
        self.of = of;
    }

    fn visit_item_impl(&mut self, item: &'ast syn::ItemImpl) {
        let name = match &*item.self_ty {
            syn::Type::Path(path) => path.path.segments.last().map(|last| last.ident.to_string()),
            _ => None,
        };
        let of = std::mem::replace(&mut self.of, name.unwrap_or_default());
        self.of_trait = item.trait_.is_some();
        if let Some(keyword) = item.unsafety {
            self.add(Kind::Impl, keyword.span, None);
        }
        visit::visit_item_impl(self, item);
        self.of = of;
    }

    fn visit_expr_unsafe(&mut self, block: &'ast syn::ExprUnsafe) {
        self.add(Kind::Block, block.unsafe_token.span, None);
        visit::visit_expr_unsafe(self, block);
    }

    fn visit_attribute(&mut self, attribute: &'ast syn::Attribute) {
        if attribute.path().is_ident("unsafe") {
            self.add(Kind::Attribute, attribute.pound_token.span, None);
        }
    }

    fn visit_item_macro(&mut self, item: &'ast syn::ItemMacro) {
        let name = item.ident.as_ref().map(|name| format!("{name}!"));
        self.within.extend(name.clone());
        self.tokens(item.mac.tokens.clone());
        if name.is_some() {
            self.within.pop();
        }
    }

    fn visit_macro(&mut self, item: &'ast syn::Macro) {
        self.tokens(item.tokens.clone());
    }
}

/// The module's unsafe code, file by file.
fn module() -> BTreeMap<String, Vec<Found>> {
    let files = texts("src", &[".rs"]).into_iter();
    let found = files.map(|(file, source)| (file, find(&source)));
    found.filter(|(_, found)| !found.is_empty()).collect()
}

/// The invariants in docs/internals.md: number and first words.
fn invariants() -> BTreeMap<u32, String> {
    let text = fs::read_to_string(root().join("docs/internals.md")).unwrap();
    let (_, section) = text.split_once("## Invariants\n").unwrap();
    let section = section.split("\n## ").next().unwrap();
    let mut found = BTreeMap::new();
    for (at, _) in section.match_indices(". **") {
        let number = section[..at]
            .rsplit('\n')
            .next()
            .and_then(|digits| digits.parse().ok());
        let rest = &section[at + ". **".len()..];
        if let (Some(number), Some((title, _))) = (number, rest.split_once("**")) {
            let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
            found.insert(number, title.trim_end_matches(['.', ',', ':']).to_owned());
        }
    }
    found
}

/// Functions in their order, each with how often it was found: `Task::poll (2), start`.
fn functions<'a>(found: impl Iterator<Item = &'a Found>) -> String {
    let mut all: Vec<(&str, usize)> = Vec::new();
    for one in found {
        match all.iter_mut().find(|(name, _)| *name == one.within) {
            Some((_, count)) => *count += 1,
            None => all.push((&one.within, 1)),
        }
    }
    let shown = all.iter().map(|(name, count)| match count {
        1 => format!("`{name}`"),
        count => format!("`{name}` ({count})"),
    });
    shown.collect::<Vec<_>>().join(", ")
}

fn render(module: &BTreeMap<String, Vec<Found>>) -> String {
    let all = || module.values().flatten();
    let of = |kind| all().filter(|found| found.kind == kind).count();
    let mut out = format!(
        "# Unsafe code\n\n\
         By the [invariant](internals.md#invariants) that its SAFETY line leans on. Made of the source:\n\
         `UNSAFE=overwrite cargo test -p xtask --test unsafe_code` writes it again, and `make test` compares.\n\n\
         {} blocks, {} `unsafe impl`, {} functions whose callers promise something, {} that nginx alone calls, and {}\n\
         attributes for exported names, in {} of {} files. Where a line leans on two invariants, it is under both.\n",
        of(Kind::Block),
        of(Kind::Impl),
        of(Kind::Function),
        of(Kind::Callback),
        of(Kind::Attribute),
        module.len(),
        texts("src", &[".rs"]).len(),
    );
    for (number, title) in invariants() {
        let leans = |found: &&Found| found.is_reasoned() && found.invariants().contains(&number);
        let count = all().filter(leans).count();
        let _ = write!(out, "\n## Invariant {number}: {}\n\n", lower(&title));
        if count == 0 {
            let _ = writeln!(out, "No line leans on it: safe code keeps it.");
            continue;
        }
        let _ = writeln!(
            out,
            "{count} in all.\n\n| file | | in |\n| --- | ---: | --- |"
        );
        for (file, found) in module {
            let here = found.iter().filter(leans).count();
            if here > 0 {
                let names = functions(found.iter().filter(leans));
                let _ = writeln!(out, "| `src/{file}` | {here} | {names} |");
            }
        }
    }
    let _ = write!(out, "\n## Promised by callers\n\n");
    let _ = writeln!(out, "`unsafe fn`, with the promise in its documentation.\n");
    let _ = writeln!(out, "| file | | functions |\n| --- | ---: | --- |");
    for (file, found) in module {
        let promised = || found.iter().filter(|found| found.kind == Kind::Function);
        if promised().count() > 0 {
            let _ = writeln!(
                out,
                "| `src/{file}` | {} | {} |",
                promised().count(),
                functions(promised())
            );
        }
    }
    out
}

/// A sentence behind a colon.
fn lower(sentence: &str) -> String {
    let mut chars = sentence.chars();
    let first = chars.next().map(|c| c.to_ascii_lowercase());
    first.into_iter().chain(chars).collect()
}

#[test]
fn the_inventory_is_what_the_source_says() {
    let inventory = render(&module());
    let file = root().join(INVENTORY);
    if std::env::var_os("UNSAFE").is_some_and(|word| word == "overwrite") {
        fs::write(&file, &inventory).unwrap();
    }
    assert!(
        fs::read_to_string(file).unwrap_or_default() == inventory,
        "{INVENTORY} is old: UNSAFE=overwrite cargo test -p xtask --test unsafe_code"
    );
}

#[test]
fn unsafe_code_names_an_invariant_that_there_is() {
    let known: BTreeSet<u32> = invariants().into_keys().collect();
    assert!(known.len() >= 8, "{known:?}");
    let mut wrong = Vec::new();
    for (file, found) in module() {
        for one in found {
            let is_right = match one.kind {
                Kind::Function => one.reason.contains("# Safety"),
                Kind::Callback => true,
                _ => !one.invariants().is_empty() && one.invariants().is_subset(&known),
            };
            if !is_right {
                wrong.push(format!(
                    "src/{file}:{}: {:?}, {:?}",
                    one.line, one.kind, one.reason
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "these do not say why they hold:\n{}",
        wrong.join("\n")
    );
}

#[test]
fn unsafe_code_is_in_its_rooms_alone() {
    let outside: Vec<String> = module().into_keys().collect();
    let is_outside = |file: &&String| !ROOMS.iter().any(|room| file.starts_with(room));
    assert_eq!(outside.iter().find(is_outside), None);
    // An author of handlers writes none.
    for folder in ["module", "examples", "src/handlers"] {
        for (file, source) in texts(folder, &[".rs"]) {
            assert!(find(&source).is_empty(), "{folder}/{file}");
        }
    }
}

#[test]
fn what_is_unsafe_is_found() {
    let source = r#"
        struct A;
        // SAFETY: never shared (invariants 1 and 3).
        unsafe impl Sync for A {}
        impl A {
            /// # Safety
            ///
            /// Never.
            unsafe fn f() {}
            fn g() {
                // unsafe { }
                let said = "unsafe { }";
                // SAFETY: it lives on
                // (invariant 6).
                unsafe { A::f() };
            }
        }
        macro_rules! m {
            () => {
                // SAFETY: one symbol (invariant 7).
                #[unsafe(no_mangle)]
                static S: u8 = unsafe { 0 };
            };
        }
        fn h() {
            unsafe { A::f() }
        }
        #[cfg(test)]
        mod tests {
            fn t() {
                unsafe { A::f() }
            }
        }
    "#;
    let source = source.replace("\n        ", "\n");
    let found = find(&source);
    let found: Vec<(Kind, &str, Vec<u32>)> = found
        .iter()
        .map(|one| {
            (
                one.kind,
                one.within.as_str(),
                one.invariants().into_iter().collect(),
            )
        })
        .collect();
    let expected = [
        (Kind::Impl, "A", vec![1, 3]),
        (Kind::Function, "A::f", vec![]),
        (Kind::Block, "A::g", vec![6]),
        (Kind::Attribute, "m!", vec![7]),
        (Kind::Block, "m!", vec![7]),
        (Kind::Block, "h", vec![]),
    ];
    assert_eq!(found, expected);
}
