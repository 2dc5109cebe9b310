//! The report of two kept results, in every form: the same figures everywhere, reasons in place of those that nobody
//! can vouch for, and a page that loads nothing and fits a phone.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
use scraper::{ElementRef, Html, Selector};
use serde_json::Value;

const RERUN: &str = env!("CARGO_BIN_EXE_rerun");
const RESULTS: [&str; 2] = ["compare", "article"];

/// A folder that is gone when this is dropped.
struct Place(PathBuf);

impl Place {
    fn new(test: &str) -> Self {
        let name = format!("rerun-report-{}-{test}", std::process::id());
        let place = Self(std::env::temp_dir().join(name));
        fs::create_dir_all(&place.0).unwrap();
        place
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn kept(name: &str) -> PathBuf {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/report");
    dir.join(format!("{name}.json"))
}

fn json(name: &str) -> Value {
    serde_json::from_str(&fs::read_to_string(kept(name)).unwrap()).unwrap()
}

fn rerun(arguments: &[&str]) -> Output {
    Command::new(RERUN).args(arguments).output().unwrap()
}

/// One report in its three forms.
struct Report {
    terminal: String,
    markdown: String,
    html: String,
}

impl Report {
    fn of(file: &Path, lang: &str) -> Self {
        let name = file.file_stem().unwrap().to_str().unwrap();
        let place = Place::new(&format!("{name}-{lang}-{:?}", std::thread::current().id()));
        let (markdown, html) = (place.file("deep/report.md"), place.file("report.html"));
        let file = file.to_str().unwrap();
        let output = rerun(&[
            "report",
            file,
            "--lang",
            lang,
            "--markdown",
            &markdown,
            "--html",
            &html,
        ]);
        assert!(output.status.success(), "{output:?}");
        Self {
            terminal: String::from_utf8(output.stdout).unwrap(),
            markdown: fs::read_to_string(markdown).unwrap(),
            html: fs::read_to_string(html).unwrap(),
        }
    }

    fn page(&self) -> Html {
        let page = Html::parse_document(&self.html);
        assert_eq!(page.errors, [""; 0]);
        page
    }
}

fn select<'a>(page: &'a Html, selector: &str) -> Vec<ElementRef<'a>> {
    page.select(&Selector::parse(selector).unwrap()).collect()
}

fn within<'a>(element: ElementRef<'a>, selector: &str) -> Vec<ElementRef<'a>> {
    element
        .select(&Selector::parse(selector).unwrap())
        .collect()
}

fn text(element: ElementRef) -> String {
    element.text().collect::<String>().trim().to_owned()
}

/// Rows of figures: table, grid, contender, and the cells.
type Rows = BTreeMap<(usize, usize, String), Vec<String>>;

fn html_rows(page: &Html) -> Rows {
    let mut rows = Rows::new();
    let sections = select(page, "section[id^=table-]");
    for (table, section) in sections.into_iter().enumerate() {
        for (grid, shown) in within(section, ".scroll table").into_iter().enumerate() {
            for row in within(shown, "tbody tr") {
                let cells = within(row, "td").into_iter().map(text).collect();
                rows.insert((table, grid, text(within(row, "th")[0])), cells);
            }
        }
    }
    rows
}

/// All but the one that makes other quotes of quotes.
fn extensions() -> Options {
    Options::all() - Options::ENABLE_SMART_PUNCTUATION
}

/// Tables with ten columns are of costs, those with eight of latencies; others hold what was published.
fn markdown_rows(markdown: &str) -> Rows {
    let mut rows = Rows::new();
    let (mut grids, mut row, mut cell) = (0, Vec::new(), String::new());
    let mut figures = false;
    for event in Parser::new_ext(markdown, extensions()) {
        match event {
            Event::Start(Tag::Table(columns)) => figures = columns.len() >= 8,
            Event::End(TagEnd::Table) => grids += usize::from(figures),
            Event::Text(text) | Event::Code(text) => cell += &text,
            Event::Start(Tag::TableCell) => cell.clear(),
            Event::End(TagEnd::TableCell) => row.push(std::mem::take(&mut cell)),
            Event::End(TagEnd::TableHead) => row.clear(),
            Event::End(TagEnd::TableRow) => {
                let mut cells = std::mem::take(&mut row).into_iter();
                let name = cells.next().unwrap();
                // A row that is too short is filled up.
                let cells = cells.filter(|cell| !cell.is_empty()).collect();
                if figures {
                    rows.insert((grids / 2, grids % 2, name), cells);
                }
            }
            _ => {}
        }
    }
    rows
}

/// Lines by the contender that they begin with, in the order of the tables. Words stand for cells.
fn terminal_rows(terminal: &str, contenders: &[Vec<String>]) -> Rows {
    let mut rows = Rows::new();
    let tables = terminal
        .split("\n\n")
        .filter(|part| part.contains("CPU µs"));
    for (table, (part, names)) in tables.zip(contenders).enumerate() {
        let lines = part.lines().filter_map(|line| {
            let (first, rest) = line.split_once(' ')?;
            let words: Vec<String> = rest.split_whitespace().map(str::to_owned).collect();
            names.contains(&first.to_owned()).then_some((first, words))
        });
        for (index, (name, words)) in lines.take(2 * names.len()).enumerate() {
            rows.insert((table, index / names.len(), name.to_owned()), words);
        }
    }
    rows
}

fn contenders(run: &Value) -> Vec<Vec<String>> {
    let tables = run["tables"].as_array().unwrap().iter();
    let names = |table: &Value| {
        let rows = table["rows"].as_array().unwrap().iter();
        let names = rows.map(|row| row["contender"].as_str().unwrap().to_owned());
        names.collect()
    };
    tables.map(names).collect()
}

fn each_row(run: &Value) -> Vec<(usize, &Value)> {
    let tables = run["tables"].as_array().unwrap().iter().enumerate();
    let rows = tables.flat_map(|(index, table)| {
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(move |row| (index, row))
    });
    rows.collect()
}

#[test]
fn every_figure_is_the_same_everywhere_and_the_results() {
    let (mut figures, mut refused) = (0, 0);
    for name in RESULTS {
        let (run, report) = (json(name), Report::of(&kept(name), "en"));
        let html = html_rows(&report.page());
        let markdown = markdown_rows(&report.markdown);
        let terminal = terminal_rows(&report.terminal, &contenders(&run));
        assert_eq!(html, markdown);
        for (table, row) in each_row(&run) {
            let contender = row["contender"].as_str().unwrap().to_owned();
            let [costs, latencies] = [0, 1].map(|grid| &html[&(table, grid, contender.clone())]);
            let summary = &row["summary"];
            if summary.is_null() {
                assert_eq!((costs.len(), latencies.len()), (1, 1), "{contender}");
                continue;
            }
            for grid in [0, 1] {
                let key = (table, grid, contender.clone());
                let words = html[&key].join(" ");
                let words: Vec<&str> = words.split_whitespace().collect();
                assert_eq!(terminal[&key], words, "{name}: {contender}");
            }
            let mut same = |cell: &str, value: &Value| {
                let (Some(value), shown) = (value.as_f64(), cell.replace(',', "")) else {
                    return assert_eq!(cell, "-", "{contender}");
                };
                let shown: f64 = shown.parse().unwrap();
                let rounding = 0.005 + value.abs() * 0.005;
                assert!(
                    (shown - value).abs() <= rounding,
                    "{contender}: {cell}, {value}"
                );
                figures += 1;
            };
            same(&costs[0], &summary["cpu_us"]["median"]);
            same(&costs[2], &summary["user_us"]["median"]);
            same(&costs[3], &summary["system_us"]["median"]);
            same(&costs[5], &summary["switches"]["median"]);
            let scaled = |value: &Value, by: f64| value.as_f64().map(|value| value / by).into();
            same(&costs[6], &scaled(&summary["per_connection_bytes"], 1024.0));
            same(&costs[7], &scaled(&summary["peak_bytes"], 1024.0 * 1024.0));
            assert_eq!(costs[8], summary["limiter"].as_str().unwrap());
            let percentiles = ["min", "mean", "p50", "p90", "p99", "p999", "max"];
            for (cell, percentile) in latencies.iter().zip(percentiles) {
                same(cell, &summary["over_ms"][percentile]);
            }
            if summary["rate"].is_null() {
                let verdicts = row["verdicts"].as_array().unwrap();
                let gate = verdicts
                    .iter()
                    .find(|verdict| verdict["outcome"] == "no_rate");
                assert_eq!(costs[4], format!("gate {}", gate.unwrap()["gate"]));
                refused += 1;
            } else {
                let bound = ["client", "unknown"].contains(&summary["limiter"].as_str().unwrap());
                let rate = costs[4].trim_start_matches('\u{2265}');
                assert_eq!(bound, rate != costs[4], "{contender}");
                same(rate, &summary["rate"]["median"]);
            }
        }
    }
    // The kept results have all that there can be.
    assert!(figures > 100 && refused > 0, "{figures}, {refused}");
}

/// Why a row has no figures, or no rate, in the result's own words.
fn reason(row: &Value) -> String {
    if let Some(fault) = row["fault"].as_str() {
        return fault.to_owned();
    }
    let verdicts = row["verdicts"].as_array().unwrap();
    let of = |outcome: &str| {
        let mut verdicts = verdicts.iter();
        verdicts.find(|verdict| verdict["outcome"] == outcome)
    };
    let verdict = of("refuse").or_else(|| of("no_rate")).unwrap();
    format!(
        "gate {}, {}",
        verdict["gate"],
        verdict["text"].as_str().unwrap()
    )
}

#[test]
fn a_row_that_failed_shows_its_reason_in_tables_and_plots() {
    let (mut rows, mut rates) = (0, 0);
    for name in RESULTS {
        let (run, report) = (json(name), Report::of(&kept(name), "en"));
        let page = report.page();
        let (html, plots) = (
            html_rows(&page),
            select(&page, "section[id^=table-] .plots"),
        );
        let terminal: Vec<&str> = report.terminal.split_whitespace().collect();
        let terminal = terminal.join(" ");
        for (table, row) in each_row(&run) {
            let contender = row["contender"].as_str().unwrap();
            let drawn = |id: &str| {
                let plot = within(plots[table], &format!("svg[aria-labelledby^={id}]"));
                let plot = *plot.first()?;
                let description = text(within(plot, "desc")[0]);
                Some((within(plot, ".bar").len(), description))
            };
            let rated = &run["tables"][table]["rows"].as_array().unwrap();
            let count = |has: &dyn Fn(&Value) -> bool| rated.iter().filter(|row| has(row)).count();
            if let Some((bars, description)) = drawn("rate") {
                assert_eq!(bars, count(&|row| !row["summary"]["rate"].is_null()));
                if row["summary"]["rate"].is_null() {
                    assert!(description.contains(&format!("{contender}: {}", reason(row))));
                    rates += 1;
                }
            }
            if !row["summary"].is_null() {
                continue;
            }
            let reason = reason(row);
            for grid in [0, 1] {
                assert_eq!(html[&(table, grid, contender.to_owned())].concat(), reason);
            }
            assert!(
                terminal.contains(&format!("x {contender}: {reason}")),
                "{reason}"
            );
            let (bars, description) = drawn("cpu").unwrap();
            assert_eq!(bars, count(&|row| !row["summary"].is_null()));
            assert!(description.contains(&format!("{contender}: {reason}")));
            rows += 1;
        }
    }
    assert!(rows > 2 && rates > 2, "{rows}, {rates}");
}

#[test]
fn published_figures_are_struck_out_beside_the_row_as_meant() {
    let (run, report) = (json("article"), Report::of(&kept("article"), "en"));
    let page = report.page();
    let shown = select(&page, "#published tbody tr");
    let published = run["published"]["rows"].as_array().unwrap();
    assert_eq!(shown.len(), published.len());
    let cells: Vec<String> = html_rows(&page).into_values().flatten().collect();
    let mut rates = 0;
    for (shown, row) in shown.into_iter().zip(published) {
        let rate = row["figures"]["rate"].as_f64().unwrap().round().to_string();
        let struck = text(within(shown, "s")[0]).replace([',', '/', 's'], "");
        assert_eq!(struck, rate);
        assert_eq!(text(within(shown, ".refused")[0]), reason(row));
        let contender = row["contender"].as_str().unwrap();
        let measured = contenders(&run).concat();
        let meant = within(shown, "td").pop().map(text).unwrap();
        assert_eq!(
            meant.starts_with(contender),
            measured.iter().any(|name| name == contender)
        );
        // As its table has it: a lower bound is one here, too.
        if let Some(meant) = meant.strip_suffix(" answers/s") {
            let (_, rate) = meant.rsplit_once(' ').unwrap();
            assert!(cells.iter().any(|cell| cell == rate), "{meant}");
            rates += 1;
        }
    }
    assert!(rates > 1, "{rates}");
}

#[test]
fn the_page_loads_nothing_and_is_accessible() {
    for (name, lang, tag) in [("compare", "en", "en"), ("article", "zh", "zh-CN")] {
        let report = Report::of(&kept(name), lang);
        let page = report.page();
        let root = page.root_element();
        assert_eq!(root.attr("lang"), Some(tag));
        let forbidden =
            "script, link, img, image, iframe, object, embed, video, audio, source, base, form";
        assert!(select(&page, forbidden).is_empty());
        let all = || select(&page, "*").into_iter();
        let ids: Vec<&str> = all().filter_map(|element| element.attr("id")).collect();
        let unique: BTreeSet<&str> = ids.iter().copied().collect();
        assert_eq!(ids.len(), unique.len());
        for element in all() {
            for (attribute, value) in element.value().attrs() {
                assert!(
                    !attribute.starts_with("on") && attribute != "src",
                    "{attribute}"
                );
                if attribute.ends_with("href") {
                    assert!(
                        value.starts_with('#') && unique.contains(&value[1..]),
                        "{value}"
                    );
                }
                if attribute == "aria-labelledby" {
                    assert!(value.split(' ').all(|id| unique.contains(id)), "{value}");
                }
            }
        }
        let style = text(select(&page, "style")[0]);
        assert!(!style.contains("url(") && !style.contains("@import"));
        assert!(!text(select(&page, "title")[0]).is_empty());
        let mut last = 0;
        for heading in select(&page, "h1, h2, h3, h4") {
            let level = i32::from(heading.value().name().as_bytes()[1] - b'0');
            assert!(
                level <= last + 1 && (level == 1) == (last == 0),
                "{}",
                text(heading)
            );
            last = level;
        }
        let figures = select(&page, "figure");
        assert!(figures.len() >= 6, "{}", figures.len());
        for figure in figures {
            assert_eq!(within(figure, "figcaption").len(), 1);
            let plot = within(figure, "svg[role=img]")[0];
            assert!(!text(within(plot, "title")[0]).is_empty());
            assert!(!text(within(plot, "desc")[0]).is_empty());
        }
    }
}

/// WCAG 2.2, 1.4.3 and 1.4.11: 4.5 to 1 for text, 3 to 1 for what is drawn.
#[test]
fn colours_have_contrast_in_light_and_dark() {
    let report = Report::of(&kept("compare"), "en");
    let style = text(select(&report.page(), "style")[0]);
    let (light, dark) = style.split_once("prefers-color-scheme: dark").unwrap();
    let dark = dark.split("* {").next().unwrap();
    for scheme in [light, dark] {
        let luminance = |name: &str| {
            let (_, rest) = scheme.split_once(&format!("--{name}: #")).unwrap();
            let hex = rest.split(';').next().unwrap();
            let channel = |at: usize| {
                let value = u8::from_str_radix(&hex[at..at + 2], 16).unwrap();
                let value = f64::from(value) / 255.0;
                if value <= 0.04045 {
                    value / 12.92
                } else {
                    ((value + 0.055) / 1.055).powf(2.4)
                }
            };
            0.2126 * channel(0) + 0.7152 * channel(2) + 0.0722 * channel(4)
        };
        let contrast = |one: &str, other: &str| {
            let (one, other) = (luminance(one), luminance(other));
            (one.max(other) + 0.05) / (one.min(other) + 0.05)
        };
        for name in ["text", "muted", "link", "refused", "warn", "good"] {
            assert!(
                contrast(name, "page") >= 4.5,
                "{name}: {}",
                contrast(name, "page")
            );
        }
        assert!(contrast("text", "box") >= 4.5);
        for name in ["bar", "s0", "s1", "s2", "s3", "s4", "s5"] {
            assert!(
                contrast(name, "page") >= 3.0,
                "{name}: {}",
                contrast(name, "page")
            );
        }
    }
}

#[test]
fn texts_cannot_become_markup() {
    const NASTY: &str =
        "</td></desc><script>alert(1)</script> | `a` | *b* <!-- {rate} $x$ ]]> &amp; \"'";
    let mut run = json("compare");
    run["title"] = NASTY.into();
    run["tables"][0]["title"] = NASTY.into();
    run["warnings"][0] = NASTY.into();
    for row in run["tables"][0]["rows"].as_array_mut().unwrap() {
        if row["summary"].is_null() {
            row["fault"] = NASTY.into();
        }
    }
    run["contenders"]["nginx-lua"]["notes"] = NASTY.into();
    run["contenders"]["nginx-lua"]["files"]["<b>"] = format!("```\n{NASTY}\n````").into();
    let place = Place::new("nasty");
    let file = place.0.join("nasty.json");
    fs::write(&file, run.to_string()).unwrap();
    for lang in ["en", "zh"] {
        let report = Report::of(&file, lang);
        let page = report.page();
        assert!(select(&page, "script, b script, td script").is_empty());
        assert!(text(select(&page, "h1")[0]).ends_with(NASTY));
        let html = html_rows(&page);
        assert_eq!(html, markdown_rows(&report.markdown));
        assert_eq!(html[&(0, 0, "dotnet-kestrel".into())], [NASTY]);
        let events = Parser::new_ext(&report.markdown, extensions());
        let mut texts = String::new();
        for event in events {
            match event {
                Event::Html(html) | Event::InlineHtml(html) => {
                    let allowed = ["<details>", "</details>"];
                    let html = html.trim();
                    assert!(allowed.iter().any(|tag| html.starts_with(tag)), "{html}");
                    assert!(!html.contains("<script") && !html.contains("<b>"), "{html}");
                }
                Event::Text(text) => texts += &text,
                _ => {}
            }
        }
        // The title, the table's, the warning, a reason in two tables and in a list, the notes, the file.
        assert_eq!(texts.matches(NASTY).count(), 8, "{texts}");
        assert!(fits(&report.terminal));
    }
}

/// As a terminal counts: a Chinese letter takes two columns.
fn fits(terminal: &str) -> bool {
    let width = |c: char| if c >= '\u{2e80}' { 2 } else { 1 };
    terminal
        .lines()
        .all(|line| line.chars().map(width).sum::<usize>() <= 100)
}

#[test]
fn the_terminal_has_a_hundred_columns_and_no_colours() {
    for name in RESULTS {
        for lang in ["en", "zh"] {
            let report = Report::of(&kept(name), lang);
            assert!(fits(&report.terminal), "{}", report.terminal);
            assert!(!report.terminal.contains('\u{1b}'));
        }
    }
}

#[test]
fn notes_of_contenders_are_shown() {
    for name in RESULTS {
        let (run, report) = (json(name), Report::of(&kept(name), "en"));
        let squeezed = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        let page = squeezed(&text(report.page().root_element()));
        let terminal = squeezed(&report.terminal);
        for contender in run["contenders"].as_object().unwrap().values() {
            let notes = contender["notes"].as_str().unwrap();
            assert!(!notes.is_empty() && page.contains(notes), "{notes}");
            assert!(terminal.contains(notes), "{notes}");
        }
    }
}

/// A word that no name and no command has, but every English sentence. Quoted bodies may be English.
fn english(text: &str) -> Option<&str> {
    const WORDS: [&str; 18] = [
        "a", "an", "the", "of", "in", "on", "to", "by", "for", "at", "is", "are", "was", "and",
        "not", "no", "with", "cannot",
    ];
    let mut words = text.split('"').step_by(2).flat_map(str::split_whitespace);
    words.find(|word| WORDS.contains(&word.trim_end_matches([',', '.', ':', ';'])))
}

#[test]
fn everything_is_said_in_chinese() {
    assert_eq!(english("正文 nothing is known of it"), Some("is"));
    for name in RESULTS {
        let report = Report::of(&kept(name), "zh");
        let page = report.page();
        let said = "h1, td, .lines li, .warning, .load, figcaption, svg text, svg desc, #legend dd, \
                    #run dd:not(:has(code))";
        for element in select(&page, said) {
            let text = text(element);
            assert_eq!(english(&text), None, "{text}");
        }
        let names = ["CPU µs", "95 %", "p50", "p90", "p99", "p99.9", "rerun"];
        for element in select(
            &page,
            "h2, figure h3, caption, th[scope=col], a, summary, dt",
        ) {
            let text = text(element);
            let chinese = text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
            assert!(chinese || names.contains(&&*text), "{text}");
        }
        // The figures are those of the English report.
        let english = html_rows(&Report::of(&kept(name), "en").page());
        let of_numbers = |rows: Rows| -> Vec<String> {
            let cells = rows.into_values().filter(|cells| cells.len() > 1).flatten();
            cells.filter(|cell| cell.parse::<f64>().is_ok()).collect()
        };
        assert_eq!(of_numbers(html_rows(&page)), of_numbers(english));
    }
}

#[test]
fn one_form_can_be_printed() {
    let file = kept("compare");
    let file = file.to_str().unwrap();
    for (option, start) in [
        ("--markdown", "# rerun compare"),
        ("--html", "<!DOCTYPE html>"),
    ] {
        let output = rerun(&["report", file, option, "-"]);
        assert!(output.status.success());
        assert!(String::from_utf8(output.stdout).unwrap().starts_with(start));
    }
    let output = rerun(&["report", file, "--markdown", "-", "--html", "-"]);
    assert!(!output.status.success() && output.stdout.is_empty());
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("only one of them can be printed"), "{error}");
    let folder = std::env::temp_dir();
    let output = rerun(&["report", file, "--html", folder.to_str().unwrap()]);
    let error = String::from_utf8(output.stderr).unwrap();
    assert!(error.contains("is a directory"), "{error}");
}

/// What a headless Chromium finds in a frame of 390 pixels (its windows are never narrower than 500): the widths of the
/// frame and of the page, and the height of the smallest letters of a plot. Nothing where there is no Chromium.
fn on_a_phone(page: &str) -> Option<[f64; 3]> {
    let source = page.replace('&', "&amp;").replace('"', "&quot;");
    let measure = format!(
        "<iframe style=\"border: 0; width: 390px; height: 844px\" srcdoc=\"{source}\"></iframe>
        <script>onload = () => {{
            const page = document.querySelector('iframe').contentDocument;
            const letters = [...page.querySelectorAll('svg text')].map(text =>
                parseFloat(getComputedStyle(text).fontSize) * text.getScreenCTM().a);
            const found = [page.defaultView.innerWidth, page.documentElement.scrollWidth, Math.min(...letters)];
            document.body.textContent = `MEASURED ${{found.join(' ')}} END`;
        }}</script>"
    );
    let place = Place::new("phone");
    let file = place.0.join("page.html");
    fs::write(&file, measure).unwrap();
    let profile = format!("--user-data-dir={}", place.file("profile"));
    let chromium = Command::new("timeout")
        .args([
            "120",
            "chromium",
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
        ])
        .args([
            "--disable-dev-shm-usage",
            "--hide-scrollbars",
            "--dump-dom",
            &profile,
        ])
        .arg(format!("file://{}", file.display()))
        .output()
        .unwrap();
    if chromium.status.code() == Some(127) {
        eprintln!("chromium is not installed: the width on a phone is not measured");
        return None;
    }
    let dom = String::from_utf8_lossy(&chromium.stdout);
    let measured = dom
        .split_once("MEASURED ")
        .and_then(|(_, rest)| rest.split_once(" END"));
    let (measured, _) = measured.unwrap_or_else(|| panic!("{chromium:?}"));
    let numbers: Vec<f64> = measured
        .split(' ')
        .map(|number| number.parse().unwrap())
        .collect();
    Some(numbers.try_into().unwrap())
}

#[test]
fn the_page_fits_a_phone() {
    for (name, lang) in [("compare", "zh"), ("article", "en")] {
        let report = Report::of(&kept(name), lang);
        if let Some([window, page, letters]) = on_a_phone(&report.html) {
            assert_eq!(window, 390.0);
            assert!(page <= 390.0, "{name}: {page} pixels wide");
            assert!(
                letters >= 10.0,
                "{name}: letters of {letters} pixels in a plot"
            );
        }
    }
}
