//! actix-web: a handler a path.

use std::time::Duration;

use actix_web::http::header::ContentType;
use actix_web::rt::time::sleep;
use actix_web::{App, HttpResponse, HttpServer, web};

async fn hello() -> HttpResponse {
    HttpResponse::Ok()
        .content_type(ContentType::html())
        .body("<h1>HelloWorld</h1>\n")
}

async fn test() -> HttpResponse {
    sleep(Duration::from_millis(20)).await;
    HttpResponse::Ok()
        .content_type(ContentType::plaintext())
        .body("OK\n")
}

#[actix_web::main]
async fn main() -> std::io::Result<()> {
    let port = std::env::args().nth(1).and_then(|port| port.parse().ok());
    let cpus = std::env::args().nth(2).and_then(|cpus| cpus.parse().ok());
    HttpServer::new(|| {
        App::new()
            .route("/hello", web::get().to(hello))
            .route("/test", web::get().to(test))
    })
    .workers(cpus.unwrap_or(1))
    .bind(("127.0.0.1", port.unwrap_or(8080)))?
    .run()
    .await
}
