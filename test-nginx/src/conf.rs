//! The nginx.conf of a test, in the shape that Test::Nginx gives it.

use std::path::Path;

use crate::block::Block;
use crate::exchange::uses_http2;
use crate::expand::{Variables, find};
use crate::nginx::{Nginx, Version};

/// What goes into an nginx.conf.
#[derive(Debug, Clone)]
pub(crate) struct Conf {
    pub workers: String,
    pub worker_connections: String,
    pub master: bool,
    pub log_level: String,
    pub error_log: Option<Vec<u8>>,
    pub server_name: Vec<u8>,
    pub root_location: bool,
    pub http2: bool,
    pub reuseport: bool,
    pub main_config: Vec<u8>,
    pub http_config: Vec<u8>,
    pub preamble: Vec<u8>,
    pub config: Vec<u8>,
    pub post_main_config: Vec<u8>,
    pub env: Vec<String>,
    pub event_type: Option<String>,
    pub postpone_output: Option<String>,
    pub worker_user: Option<String>,
}

impl Default for Conf {
    fn default() -> Conf {
        Conf {
            workers: "1".to_owned(),
            worker_connections: "64".to_owned(),
            master: false,
            log_level: "debug".to_owned(),
            error_log: None,
            server_name: b"localhost".to_vec(),
            root_location: true,
            http2: false,
            reuseport: false,
            main_config: Vec::new(),
            http_config: Vec::new(),
            preamble: Vec::new(),
            config: Vec::new(),
            post_main_config: Vec::new(),
            env: Vec::new(),
            event_type: None,
            postpone_output: None,
            worker_user: None,
        }
    }
}

/// Directories for temporary files, each with the option that leaves out its
/// module.
const TEMP_PATHS: &[(&str, &str)] = &[
    ("client_body_temp_path", ""),
    ("proxy_temp_path", "--without-http_proxy_module"),
    ("fastcgi_temp_path", "--without-http_fastcgi_module"),
    ("scgi_temp_path", "--without-http_scgi_module"),
    ("uwsgi_temp_path", "--without-http_uwsgi_module"),
];

/// Variables that Test::Nginx hands on to nginx, for the tools that preload
/// into it.
const ENV: &[&str] = &[
    "MOCKEAGAIN_VERBOSE",
    "MOCKEAGAIN",
    "MOCKEAGAIN_WRITE_TIMEOUT_PATTERN",
    "LD_PRELOAD",
    "LD_LIBRARY_PATH",
    "DYLD_INSERT_LIBRARIES",
    "DYLD_FORCE_FLAT_NAMESPACE",
];

/// More of them, that it has at the end of the file.
const MORE_ENV: &[&str] = &["ASAN_OPTIONS", "MOCKNOEAGAIN_VERBOSE", "MOCKNOEAGAIN"];

impl Conf {
    /// What a block and its file ask for.
    pub fn of(block: &Block) -> Conf {
        let env = |name: &str| {
            block
                .env
                .get(name)
                .filter(|value| !value.is_empty())
                .cloned()
        };
        let name = block
            .text("server_name")
            .unwrap_or_else(|| block.setting_text("server_name"));
        let variables = block
            .setting("env_to_nginx")
            .list()
            .unwrap_or_default()
            .iter();
        Conf {
            workers: block.setting_text("workers"),
            worker_connections: block.setting_text("worker_connections"),
            master: block.setting_text("master") == "on",
            log_level: block
                .text("log_level")
                .unwrap_or_else(|| block.setting_text("log_level")),
            error_log: block
                .has("error_log_file")
                .then(|| block.bytes("error_log_file")),
            server_name: name.into_bytes(),
            root_location: !block.setting("no_root_location").is_true(),
            http2: uses_http2(block),
            reuseport: env("TEST_NGINX_REUSE_PORT").is_some(),
            main_config: block.bytes("main_config"),
            http_config: block.bytes("http_config"),
            preamble: block
                .setting("preamble")
                .bytes()
                .unwrap_or_default()
                .to_vec(),
            config: block.bytes("config"),
            post_main_config: block.bytes("post_main_config"),
            env: variables
                .filter_map(|v| v.str().map(|v| v.into_owned()))
                .collect(),
            event_type: env("TEST_NGINX_EVENT_TYPE"),
            postpone_output: env("TEST_NGINX_POSTPONE_OUTPUT"),
            worker_user: env("TEST_NGINX_WORKER_USER"),
        }
    }

    /// The text of the file, for a server at `root` that listens on `port`.
    ///
    /// Messages of nginx name lines of this file, and tests look for them: each
    /// part begins on the line where Test::Nginx has it.
    pub fn render(
        &self,
        nginx: &Nginx,
        root: &Path,
        port: u16,
        vars: &Variables,
    ) -> Result<Vec<u8>, String> {
        let root = root.display();
        let http_config = vars.expand(&self.http_config)?;
        let config = vars.expand(&self.config)?;
        let mut main_config: Vec<u8> = nginx
            .modules
            .iter()
            .flat_map(|m| format!("load_module {m}; ").into_bytes())
            .collect();
        main_config.extend_from_slice(&self.main_config);
        let main_config = vars.expand(&main_config)?;
        let error_log = match &self.error_log {
            Some(file) => vars.expand(file)?,
            None => format!("{root}/logs/error.log").into_bytes(),
        };

        let mut out = Text(Vec::new());
        let master = if self.master { "on" } else { "off" };
        out.line(&format!("worker_processes {};", self.workers));
        out.line("daemon off;");
        out.line(&format!("master_process {master};"));
        out.put("error_log ").put(error_log);
        out.line(&format!(" {};", self.log_level));
        out.line(&format!("pid {root}/logs/nginx.pid;"));
        for name in ENV {
            out.line(&format!("env {name};"));
        }
        for variable in &self.env {
            let spaced = variable.contains(char::is_whitespace);
            let quote = if spaced { "'" } else { "" };
            out.line(&format!("env {quote}{variable}{quote};"));
        }
        out.line("\n\n# main_config").put(main_config);

        out.line("\n\nhttp {");
        out.put(format!("    access_log {root}/logs/access.log;"));
        for (path, module) in TEMP_PATHS {
            let own = find(&http_config, path.as_bytes()).is_some();
            if !own && (module.is_empty() || !nginx.configured_with(module)) {
                let directory = path.trim_end_matches("_path");
                out.put(format!(" {path} {root}/{directory};"));
            }
        }
        out.line("\n\n\n    default_type text/plain;");
        out.put("    keepalive_timeout 68000ms;");
        let postponed = find(&http_config, b"postpone_output").is_some();
        if let (Some(size), false) = (&self.postpone_output, postponed) {
            out.put(format!(" postpone_output {size};"));
        }
        out.line("\n    # http_config").put(http_config).line("");

        out.line("    server {");
        out.put(format!("        listen {port}"));
        let by_directive = nginx.version >= Version(1, 25, 1);
        out.put(if self.http2 && !by_directive {
            " http2"
        } else {
            ""
        });
        out.put(if self.reuseport { " reuseport;" } else { ";" });
        out.put(if self.http2 && by_directive {
            " http2 on;"
        } else {
            ""
        });
        out.put("\n\n        server_name '").put(&self.server_name);
        out.line("';\n");
        out.line("        client_max_body_size 30M;\n\n");
        out.line("        # config_preamble").put(&self.preamble);
        out.line("\n\n\n        # config").put(config);
        out.line("\n\n");
        if self.root_location {
            out.line("        location / {");
            out.line(&format!("            root {root}/html;"));
            out.line("            index index.html index.htm;");
            out.line("        }");
        }
        out.line("    }\n}\n");

        out.put(vars.expand(&self.post_main_config)?).line("\n");
        out.line("events {\n    accept_mutex off;");
        out.line(&format!(
            "    worker_connections {};",
            self.worker_connections
        ));
        if let Some(method) = &self.event_type {
            out.line(&format!("    use {method};"));
        }
        out.line("}");
        for name in MORE_ENV {
            out.line(&format!("env {name};"));
        }
        if let Some(user) = &self.worker_user {
            out.line(&format!("user {user};"));
        } else if rustix::process::geteuid().is_root() {
            out.line("user root;");
        }
        Ok(out.0)
    }
}

struct Text(Vec<u8>);

impl Text {
    fn put(&mut self, text: impl AsRef<[u8]>) -> &mut Text {
        self.0.extend_from_slice(text.as_ref());
        self
    }

    fn line(&mut self, text: &str) -> &mut Text {
        self.put(text).put("\n")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rendered(conf: &Conf) -> String {
        let nginx = Nginx::new("nginx").unwrap().modules(["/m/a.so".to_owned()]);
        let vars = Variables::new([("TEST_NGINX_X".to_owned(), "y".to_owned())].into());
        String::from_utf8(conf.render(&nginx, Path::new("/room"), 81, &vars).unwrap()).unwrap()
    }

    #[test]
    fn each_part_has_its_place() {
        let text = rendered(&Conf {
            main_config: b"main $TEST_NGINX_X;".to_vec(),
            http_config: b"http;".to_vec(),
            config: b"config;".to_vec(),
            post_main_config: b"post;".to_vec(),
            env: vec!["A".to_owned(), "B=c d".to_owned()],
            ..Conf::default()
        });
        let at = |part: &str| {
            text.find(part)
                .unwrap_or_else(|| panic!("no {part:?} in {text}"))
        };
        let order = [
            "error_log /room/logs/error.log debug;",
            "env A;\nenv 'B=c d';",
            "load_module /m/a.so; main y;",
            "http {",
            "\nhttp;\n",
            "server {",
            "listen 81;",
            "\nconfig;\n",
            "location / {",
            "\npost;\n",
            "events {",
        ];
        assert!(
            order.windows(2).all(|pair| at(pair[0]) < at(pair[1])),
            "{text}"
        );
    }

    #[test]
    fn each_part_has_its_line() {
        let text = rendered(&Conf {
            main_config: b"main;".to_vec(),
            http_config: b"http;".to_vec(),
            preamble: b"preamble;".to_vec(),
            config: b"config;".to_vec(),
            post_main_config: b"post;".to_vec(),
            ..Conf::default()
        });
        let line = |part: &str| text.lines().position(|line| line.ends_with(part)).unwrap() + 1;
        assert_eq!(line(" main;"), 16);
        assert_eq!(line("http;"), 25);
        assert_eq!(line("preamble;"), 35);
        assert_eq!(line("config;"), 39);
        assert_eq!(line("post;"), 49);
    }

    #[test]
    fn a_part_may_replace_what_is_set() {
        let conf = Conf {
            http_config: b"proxy_temp_path /x;".to_vec(),
            ..Conf::default()
        };
        assert_eq!(rendered(&conf).matches("proxy_temp_path").count(), 1);
        let conf = Conf {
            root_location: false,
            ..Conf::default()
        };
        assert!(!rendered(&conf).contains("location / {"));
    }
}
