//! A client that goes away while its request waits.

mod support;

use support::http::{Client, request, text};
use support::process::{self, frozen};
use support::{accessed, alarms, eventually, logged, logged_times, quits_in_peace};
use test_nginx::Server;

fn server() -> Server {
    let server = support::start(support::server().master(true).log_level("info").config(
        "location = /wait { content_by_rust wait; }
         location = /reply { content_by_rust reply delay=60s; }
         location = /ok { content_by_rust ok; }
         location = /byte { rust_ignore_client_abort on; content_by_rust byte; }
         location = /made {
             rust_ignore_client_abort on; content_by_rust reply body=made delay=300ms;
         }
         location = /named { error_page 418 = @named; return 418; }
         location @named { content_by_rust wait; }
         location = /page { ssi on; ssi_types *; content_by_rust reply body='[<!--# include virtual=\"/part\" -->]'; }
         location = /part { content_by_rust wait; }
         location = /followed { post_action /after; content_by_rust wait; }
         location = /after { content_by_rust reply body=after delay=20ms; }",
    ));
    // From here on the worker has all the descriptors that it has without a client.
    assert_eq!(text(&server, "/ok"), "OK\n");
    server
}

/// Runs `go`, in which a client asks for `/wait` and goes away, while the minute that it would
/// have to wait is far from over.
#[track_caller]
fn goes_away(go: impl FnOnce(&Server, u32)) {
    let server = server();
    let worker = process::worker(&server);
    settled(&server);
    let before = process::descriptors(worker);
    go(&server, worker);
    accessed(&server, "/wait HTTP/1.1\" 499 ", 1);
    logged(&server, "waits no more");
    eventually("the descriptors as they were", || {
        process::descriptors(worker) == before
    });
    assert_eq!(process::worker(&server), worker);
    assert_eq!(text(&server, "/ok"), "OK\n");
    quits_in_peace(server);
}

/// Waits until the worker has seen that the clients so far are gone.
fn settled(server: &Server) {
    let worker = process::worker(server);
    eventually("no client's descriptor", || {
        let sockets = |pid| {
            let all = process::descriptors(pid);
            all.iter()
                .filter(|file| file.starts_with("socket:"))
                .count()
        };
        // The listening socket, and the worker's end of the master's channel.
        sockets(worker) <= 2
    });
}

#[test]
fn a_fin_during_the_wait_is_499_at_once() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/wait"));
        logged(server, "waits now");
        client.close();
    });
}

#[test]
fn a_half_closed_client_counts_as_gone() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/wait"));
        logged(server, "waits now");
        client.half_close();
        assert!(client.is_closed());
    });
}

#[test]
fn a_rst_during_the_wait_is_499_at_once() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/wait"));
        logged(server, "waits now");
        client.reset();
    });
}

#[test]
fn a_fin_that_comes_together_with_the_request_is_seen() {
    goes_away(|server, worker| {
        frozen(worker, || {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", "/wait"));
            client.close();
        });
    });
}

#[test]
fn a_fin_that_comes_together_with_a_request_on_a_kept_connection_is_seen() {
    goes_away(|server, worker| {
        let mut client = Client::connect(server.addr());
        assert_eq!(client.get("/ok").text(), "OK\n");
        frozen(worker, || {
            client.send(request("GET", "/wait"));
            client.close();
        });
    });
}

#[test]
fn a_fin_behind_a_second_request_in_the_same_packet_ends_the_first() {
    goes_away(|server, worker| {
        frozen(worker, || {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", "/wait") + &request("GET", "/wait?second"));
            client.close();
        });
    });
}

#[test]
fn a_fin_behind_a_second_request_of_its_own_packet_ends_the_first() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/wait"));
        logged(server, "waits now");
        client.send(request("GET", "/wait?second"));
        client.close();
    });
}

#[test]
fn a_rst_behind_a_second_request_ends_the_first() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(request("GET", "/wait") + &request("GET", "/wait?second"));
        logged(server, "waits now");
        client.reset();
    });
}

const POST: &str =
    "POST /wait HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf a body";

#[test]
fn a_fin_in_the_middle_of_a_body_is_499_at_once() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(POST);
        logged(server, "waits now");
        client.close();
    });
}

#[test]
fn a_rst_in_the_middle_of_a_body_that_came_in_pieces_is_499_at_once() {
    goes_away(|server, _| {
        let mut client = Client::connect(server.addr());
        client.send(POST);
        logged(server, "waits now");
        client.send(" and a little more");
        client.reset();
    });
}

#[test]
fn a_client_that_sends_a_second_request_and_stays_has_not_gone() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/wait?ms=200"));
    logged(&server, "waits now");
    client.send(request("GET", "/ok"));
    assert_eq!(client.read().text(), "waited\n");
    assert_eq!(client.read().text(), "OK\n");
    drop(client);
    quits_in_peace(server);
}

#[test]
fn the_built_in_handlers_are_ended_too() {
    let server = server();
    let mut client = Client::connect(server.addr());
    frozen(process::worker(&server), || {
        client.send(request("GET", "/reply"))
    });
    client.close();
    accessed(&server, "/reply HTTP/1.1\" 499 ", 1);
    quits_in_peace(server);
}

#[test]
fn a_wait_behind_an_internal_redirect_is_ended_too() {
    let server = server();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/named"));
    logged(&server, "waits now");
    client.close();
    accessed(&server, "/named HTTP/1.1\" 499 ", 1);
    logged(&server, "waits no more");
    quits_in_peace(server);
}

#[test]
fn a_post_action_follows_the_request_of_a_client_that_has_gone() {
    let server = server();
    let worker = process::worker(&server);
    let before = process::descriptors(worker);
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/followed"));
    logged(&server, "waits now");
    client.close();
    logged(&server, "waits no more");
    accessed(&server, "/followed HTTP/1.1\" ", 1);
    eventually("the descriptors as they were", || {
        process::descriptors(worker).len() <= before.len()
    });
    assert_eq!(process::worker(&server), worker);
    quits_in_peace(server);
}

#[test]
fn a_part_of_a_page_ends_with_its_page() {
    let server = server();
    let worker = process::worker(&server);
    let mut client = Client::connect(server.addr());
    client.send(request("GET", "/page"));
    logged(&server, "waits now");
    client.reset();
    // As in nginx's own modules nobody looks at the connection for a subrequest, so the page may
    // end as late as the worker does.
    process::signal(worker, test_nginx::Signal::TERM);
    eventually("another worker", || {
        let workers = server.worker_pids();
        !workers.is_empty() && !workers.contains(&worker)
    });
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(alarms(&server), [""; 0]);
}

#[test]
fn many_clients_that_go_at_once_leave_nothing_behind() {
    let server = support::start(
        support::server()
            .master(true)
            .log_level("info")
            .worker_connections(600)
            .config(
                "location /wait { content_by_rust wait; } location = /ok { content_by_rust ok; }",
            ),
    );
    assert_eq!(text(&server, "/ok"), "OK\n");
    settled(&server);
    let worker = process::worker(&server);
    let before = process::descriptors(worker);
    let mut clients: Vec<_> = (0..200)
        .map(|n| {
            let mut client = Client::connect(server.addr());
            client.send(request("GET", &format!("/wait{n}")));
            client
        })
        .collect();
    logged_times(&server, "waits now", 200);
    frozen(worker, || {
        while let Some(client) = clients.pop() {
            match clients.len() % 3 {
                0 => client.reset(),
                _ => client.close(),
            }
        }
    });
    accessed(&server, " HTTP/1.1\" 499 ", 200);
    logged_times(&server, "waits no more", 200);
    eventually("the descriptors as they were", || {
        process::descriptors(worker) == before
    });
    quits_in_peace(server);
}

/// Asks for `/byte`, which ignores that its client goes, has the client go, and only then lets
/// the answer be made.
#[track_caller]
fn is_answered_nevertheless(go: impl FnOnce(Client) -> Option<Client>) {
    let server = server();
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let mut client = Client::connect(server.addr());
    client.send(request("GET", &format!("/byte?port={port}")));
    let (mut thread, _) = listener.accept().unwrap();
    let client = go(client);
    // The worker has had its turn since: another client has been served.
    assert_eq!(text(&server, "/ok"), "OK\n");
    assert_eq!(
        server.access_log().matches("/byte").count(),
        0,
        "nothing has ended"
    );
    std::io::Write::write_all(&mut thread, b"b").unwrap();
    accessed(&server, &format!("/byte?port={port} HTTP/1.1\" 200 "), 1);
    if let Some(mut client) = client {
        assert_eq!(client.read().text(), "b\n");
    }
    quits_in_peace(server);
}

#[test]
fn with_rust_ignore_client_abort_a_fin_changes_nothing() {
    is_answered_nevertheless(|client| {
        client.close();
        None
    });
}

#[test]
fn with_rust_ignore_client_abort_a_rst_changes_nothing() {
    is_answered_nevertheless(|client| {
        client.reset();
        None
    });
}

#[test]
fn with_rust_ignore_client_abort_a_half_closed_client_gets_its_answer() {
    is_answered_nevertheless(|mut client| {
        client.half_close();
        Some(client)
    });
}

#[test]
fn with_rust_ignore_client_abort_a_fin_with_the_request_or_in_its_body_changes_nothing() {
    let server = server();
    frozen(process::worker(&server), || {
        for bytes in [
            request("GET", "/made"),
            request("GET", "/made") + &request("GET", "/made"),
            POST.replace("/wait", "/made"),
        ] {
            let mut client = Client::connect(server.addr());
            client.send(bytes);
            client.close();
        }
    });
    accessed(&server, "/made HTTP/1.1\" 200 ", 3);
    assert!(!server.access_log().contains(" 499 "));
    quits_in_peace(server);
}
