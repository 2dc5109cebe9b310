//! What an nginx was built without, by its own words.

/// Why a configuration cannot be read by this nginx, if it wants what is not built in.
pub(crate) fn reason(said: &str) -> Option<String> {
    let first_word = |text: &str| text.split_whitespace().next().map(str::to_owned);
    let directive = after(said, "unknown directive \"").and_then(|rest| rest.split('"').next());
    if let Some(name) = directive {
        return Some(format!("there is no directive {name}"));
    }
    if after(said, " requires PCRE library").is_some() {
        return Some("there is no PCRE library".to_owned());
    }
    let module = after(said, " requires ").and_then(first_word)?;
    let is_module = module.starts_with("ngx_") && module.ends_with("_module");
    is_module.then(|| format!("there is no {module}"))
}

fn after<'a>(text: &'a str, start: &str) -> Option<&'a str> {
    Some(text.split_once(start)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_nginx_says_of_what_it_lacks() {
        for (said, wanted) in [
            (
                "[emerg] unknown directive \"echo\" in /t/nginx.conf:9",
                "there is no directive echo",
            ),
            (
                "[emerg] using regex \"^/(a)$\" requires PCRE library in /t/nginx.conf:9",
                "there is no PCRE library",
            ),
            (
                "[emerg] the \"http2\" parameter requires ngx_http_v2_module in /t/nginx.conf:9",
                "there is no ngx_http_v2_module",
            ),
            (
                "[emerg] the \"ssl\" parameter requires ngx_http_ssl_module in /t/nginx.conf:9",
                "there is no ngx_http_ssl_module",
            ),
        ] {
            assert_eq!(reason(said).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn what_is_a_mistake_is_not_missing() {
        for said in [
            "[emerg] \"return\" directive is not allowed here in /t/nginx.conf:9",
            "[emerg] \"reply\" requires patience in /t/nginx.conf:9",
            "",
        ] {
            assert_eq!(reason(said), None, "{said}");
        }
    }
}
