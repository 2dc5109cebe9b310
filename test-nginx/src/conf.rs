//! The nginx.conf of a test, in the shape that Test::Nginx gives it.

use std::path::Path;

use crate::expand::Variables;
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
    "ASAN_OPTIONS",
    "MOCKNOEAGAIN_VERBOSE",
    "MOCKNOEAGAIN",
];

impl Conf {
    /// The text of the file, for a server at `root` that listens on `port`.
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
        out.line(&format!("worker_processes {};", self.workers));
        out.line("daemon off;");
        out.line(&format!(
            "master_process {};",
            if self.master { "on" } else { "off" }
        ));
        out.put("error_log ")
            .put(error_log)
            .line(&format!(" {};", self.log_level));
        out.line(&format!("pid {root}/logs/nginx.pid;"));
        for name in ENV {
            out.line(&format!("env {name};"));
        }
        for variable in &self.env {
            let quote = if variable.contains(char::is_whitespace) {
                "'"
            } else {
                ""
            };
            out.line(&format!("env {quote}{variable}{quote};"));
        }
        out.line("").put(main_config).line("\n\nhttp {");

        out.line(&format!("    access_log {root}/logs/access.log;"));
        for (path, module) in [
            ("client_body_temp_path", ""),
            ("proxy_temp_path", "--without-http_proxy_module"),
            ("fastcgi_temp_path", "--without-http_fastcgi_module"),
            ("scgi_temp_path", "--without-http_scgi_module"),
            ("uwsgi_temp_path", "--without-http_uwsgi_module"),
        ] {
            let own = crate::expand::find(&http_config, path.as_bytes()).is_some();
            if !own && (module.is_empty() || !nginx.configured_with(module)) {
                let directory = path.trim_end_matches("_path");
                out.line(&format!("    {path} {root}/{directory};"));
            }
        }
        out.line("    default_type text/plain;");
        out.line("    keepalive_timeout 68000ms;");
        let postponed = crate::expand::find(&http_config, b"postpone_output").is_some();
        if let (Some(size), false) = (&self.postpone_output, postponed) {
            out.line(&format!("    postpone_output {size};"));
        }
        out.line("").put(http_config).line("");

        out.line("    server {");
        out.put(format!("        listen {port}"));
        let http2_directive = nginx.version >= Version(1, 25, 1);
        out.put(if self.http2 && !http2_directive {
            " http2"
        } else {
            ""
        });
        out.put(if self.reuseport { " reuseport" } else { "" })
            .line(";");
        if self.http2 && http2_directive {
            out.line("        http2 on;");
        }
        out.put("        server_name '")
            .put(&self.server_name)
            .line("';");
        out.line("        client_max_body_size 30M;");
        out.line("").put(&self.preamble).line("");
        out.put(config).line("");
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
        String::from_utf8(conf.render(&nginx, Path::new("/root"), 81, &vars).unwrap()).unwrap()
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
            "error_log /root/logs/error.log debug;",
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
