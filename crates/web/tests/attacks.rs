//! What strangers may try: each attack is refused or harmless, and the server goes on answering.

mod client;

use std::io::Write;
use std::net::TcpStream;
use std::thread;

use client::{Site, seats};
use serde_json::json;

/// The server still answers.
fn is_alive(site: &Site) -> bool {
    site.get("/api/server").status == 200
}

#[test]
fn a_foreign_host_is_refused() {
    let site = Site::new();
    let hosts = [
        "evil.example",
        "evil.example:80",
        "localhost.evil.example",
        "169.254.169.254",
        "",
        "localhost:port",
    ];
    for host in hosts {
        for path in ["/", "/api/server", "/api/games"] {
            let answer = site.request("GET", path, &[("Host", host)], b"");
            assert!(
                matches!(answer.status, 400 | 403),
                "{host} {path}: {}",
                answer.status
            );
        }
    }
    let twice = format!(
        "GET /api/server HTTP/1.1\r\nHost: {}\r\nHost: evil.example\r\nConnection: close\r\n\r\n",
        site.address
    );
    assert!(matches!(site.raw(twice.as_bytes()).status, 400 | 403));
    let none = site.raw(b"GET /api/server HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert!(matches!(none.status, 400 | 403));
    let own = format!("localhost:{}", site.address.port());
    assert_eq!(
        site.request("GET", "/api/server", &[("Host", &own)], b"")
            .status,
        200
    );
    assert!(is_alive(&site));
}

#[test]
fn a_cross_site_request_is_refused() {
    let site = Site::new();
    let body = json!({"game": "tic_tac_toe", "seats": seats(&["person", "random"])}).to_string();
    let post =
        |headers: &[(&str, &str)]| site.request("POST", "/api/matches", headers, body.as_bytes());
    for origin in [
        "http://evil.example",
        "null",
        "https://127.0.0.1",
        "http://127.0.0.1:1",
    ] {
        let answer = post(&[("Origin", origin)]);
        assert_eq!(
            (answer.status, answer.kind().as_str()),
            (403, "foreign-origin"),
            "{origin}"
        );
    }
    let answer = post(&[("Sec-Fetch-Site", "cross-site")]);
    assert_eq!(answer.status, 403);
    // What a form can send without asking.
    for kind in [
        "text/plain",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "",
    ] {
        let answer = post(&[("Content-Type", kind)]);
        assert_eq!(
            (answer.status, answer.kind().as_str()),
            (415, "not-json"),
            "{kind}"
        );
    }
    // A foreign page may not read either, nor listen.
    for path in ["/api/matches", "/api/player/events"] {
        assert_eq!(
            site.request("GET", path, &[("Origin", "http://evil.example")], b"")
                .status,
            403
        );
        assert_eq!(
            site.request("GET", path, &[("Sec-Fetch-Site", "cross-site")], b"")
                .status,
            403
        );
    }
    assert_eq!(
        site.get("/api/matches").json()["matches"],
        json!([]),
        "no match was made"
    );
    let own = format!("http://{}", site.address);
    assert_eq!(
        post(&[("Origin", &own), ("Sec-Fetch-Site", "same-origin")]).status,
        200
    );
    // A link from elsewhere to the page itself is fine.
    let link = [
        ("Sec-Fetch-Site", "cross-site"),
        ("Sec-Fetch-Mode", "navigate"),
    ];
    assert_eq!(site.request("GET", "/", &link, b"").status, 200);
}

#[test]
fn answers_forbid_scripts_in_pages_and_other_sites() {
    let site = Site::new();
    for path in [
        "/",
        "/api/server",
        "/no/such/page",
        "/api/none",
        "/nothing.js",
    ] {
        let head = site.get(path).head.to_lowercase();
        let policy = head
            .lines()
            .find(|line| line.starts_with("content-security-policy:"))
            .expect("it has a policy");
        assert!(
            policy.contains("script-src 'self';") && policy.contains("frame-ancestors 'none'"),
            "{policy}"
        );
        assert!(
            head.contains("x-content-type-options: nosniff"),
            "{path}: {head}"
        );
        assert!(!head.contains("access-control-allow-origin"), "{path}");
    }
    let page = site.get("/").text();
    assert!(
        !page.contains("<script>") && !page.contains("onload="),
        "no script inside the page"
    );
}

#[test]
fn scripts_in_names_stay_text() {
    let site = Site::new();
    let script = "<script>alert(1)</script>";
    let rules = "(role <script>alert1</script>) (init (<img/src=x/onerror=alert> 1 1 <b>)) (init (<img/src=x/onerror=alert> 1 2 <i>))
        (legal <script>alert1</script> <svg/onload=alert>) (legal <script>alert1</script> noop)
        (<= terminal (true over)) (<= (next over) (does ?r noop)) (goal <script>alert1</script> 50)";
    let answer = site.post("/api/games", &json!({"rules": rules, "name": script}));
    assert_eq!(answer.status, 200, "{}", answer.text());
    assert!(
        answer
            .head
            .to_lowercase()
            .contains("content-type: application/json"),
        "{}",
        answer.head
    );
    let game = answer.json();
    assert_eq!(game["roles"][0]["name"], "<script>alert1</script>");
    let player = json!([{"kind": "person", "name": format!("{script}\u{7}\n{}", "x".repeat(500))}]);
    let table = site.play(&json!({"game": game["id"], "seats": player}));
    let seen = site.look(&table, &table.owner);
    let name = seen["seats"][0]["name"].as_str().expect("it has a name");
    assert!(
        name.starts_with(script) && name.chars().count() <= 60 && !name.contains(['\u{7}', '\n']),
        "{name}"
    );
    // The same through the error of a rulesheet.
    let broken = site.post(
        "/api/games",
        &json!({"rules": "(<script>alert(1)</script>"}),
    );
    assert_eq!((broken.status, broken.kind().as_str()), (400, "bad-rules"));
    assert!(
        broken
            .head
            .to_lowercase()
            .contains("content-type: application/json")
    );
}

#[test]
fn path_tricks_lead_nowhere() {
    let site = Site::new();
    let secret = site.data.join("secret.json");
    std::fs::write(&secret, "{\"secret\": 1}").expect("it can be written");
    let tricks = [
        "/../secret.json",
        "/%2e%2e/secret.json",
        "/assets/../../secret.json",
        "/assets/..%2f..%2fsecret.json",
        "/..%5c..%5csecret.json",
        "//etc/passwd",
        "/etc/passwd.txt",
        "/api/matches/..%2fsecret",
        "/api/matches/%2e%2e%2fsecret/record",
        "/api/matches/../../secret",
        "/api/stores/..%2f..%2fsecret",
        "/api/stores/%2fetc%2fpasswd",
        "/api/games/..%2f..%2fCargo.toml",
        "/api/games/%00/start",
    ];
    for path in tricks {
        let answer = site.get(path);
        let text = answer.text();
        assert!(
            !text.contains("\"secret\": 1") && !text.contains("root:"),
            "{path}: {text}"
        );
        // Paths of the page without a dot are the page itself.
        let is_page = text.contains("<!doctype html>") || text.contains("<!DOCTYPE html>");
        assert!(answer.status >= 400 || is_page, "{path}: {}", answer.status);
    }
    for name in ["../x", "a/b", "", "..", "x.sqlite", "a\u{0}b"] {
        let answer = site.post(
            "/api/tournaments",
            &json!({"name": name, "toml": "games = []"}),
        );
        assert_eq!(answer.status, 400, "{name}");
    }
    assert!(is_alive(&site));
}

#[test]
fn large_and_broken_bodies_are_refused() {
    let site = Site::new();
    let large = format!("{{\"rules\": \"{}\"}}", "x".repeat(10 << 20));
    for path in ["/api/games", "/api/check", "/api/records", "/api/matches"] {
        let answer = site.request("POST", path, &[], large.as_bytes());
        assert!(
            matches!(answer.status, 413 | 0),
            "{path}: {}",
            answer.status
        );
    }
    let long = json!({"rules": "x ".repeat(800_000)});
    let answer = site.post("/api/check", &long);
    assert_eq!((answer.status, answer.kind().as_str()), (413, "too-large"));
    for body in [
        "",
        "{",
        "[]",
        "null",
        "{\"game\": 3}",
        "\u{0}",
        "{\"game\": \"chess\"}",
    ] {
        let answer = site.request("POST", "/api/matches", &[], body.as_bytes());
        assert_eq!(
            (answer.status, answer.kind().as_str()),
            (400, "bad-request"),
            "{body}"
        );
    }
    let deep = format!(
        "{{\"record\": {}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert_eq!(
        site.request("POST", "/api/records", &[], deep.as_bytes())
            .status,
        400
    );
    let nested = format!("(role {}", "(".repeat(200_000));
    assert_eq!(
        site.post("/api/games", &json!({"rules": nested})).status,
        400
    );
    // A length that lies, and a head without an end.
    let lying = format!(
        "POST /api/check HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 99999999999999999999\r\n\r\n",
        site.address
    );
    assert!(matches!(site.raw(lying.as_bytes()).status, 400 | 413 | 0));
    let endless = format!(
        "GET / HTTP/1.1\r\nHost: {}\r\nX: {}\r\n",
        site.address,
        "x".repeat(200_000)
    );
    assert!(matches!(site.raw(endless.as_bytes()).status, 400 | 431 | 0));
    assert!(is_alive(&site));
}

#[test]
fn a_thousand_idle_connections_keep_nobody_out() {
    let site = Site::with(|config| config.most_connections = 100);
    let mut idle: Vec<TcpStream> = Vec::new();
    for number in 0..1000 {
        let Ok(mut stream) = TcpStream::connect(site.address) else {
            continue;
        };
        // Half of them say a little.
        if number % 2 == 0 {
            let _ = stream.write_all(b"GET / HTTP/1.1\r\nHost:");
        }
        idle.push(stream);
        if number % 100 == 99 {
            assert!(is_alive(&site), "after {number}");
        }
        // A process may have only a limited number of open files.
        if idle.len() > 300 {
            idle.remove(0);
        }
    }
    assert!(is_alive(&site));
}

#[test]
fn streams_leave_room_for_requests() {
    let site = Site::with(|config| config.most_connections = 30);
    let table = site.play(&json!({"game": "tic_tac_toe", "seats": seats(&["person", "person"])}));
    let path = format!("/api/matches/{}/events", table.id);
    let streams: Vec<client::Events> = (0..25).map(|_| site.listen(&path)).collect();
    thread::sleep(std::time::Duration::from_millis(500));
    let refused = site.get(&path);
    assert_eq!((refused.status, refused.kind().as_str()), (429, "busy"));
    assert!(is_alive(&site));
    drop(streams);
}

#[test]
fn tokens_are_needed_and_cannot_be_guessed() {
    let site = Site::new();
    let table = site.play(&json!({"game": "tic_tac_toe", "seats": seats(&["person", "person"])}));
    let path = |what: &str| format!("/api/matches/{}/{what}", table.id);
    let turn = json!({"role": 0, "move": "(mark 1 1)"});
    let other = table.tokens[1].clone();
    for token in ["", "x", &other, &table.owner, &"0".repeat(32)] {
        let answer = site.post_as(&path("move"), token, &turn);
        assert_eq!(
            (answer.status, answer.kind().as_str()),
            (403, "not-your-seat"),
            "{token}"
        );
        assert_eq!(
            site.post_as(&path("resign"), token, &json!({"role": 0}))
                .status,
            403
        );
        assert_eq!(
            site.post_as(&path("hint"), token, &json!({"role": 0}))
                .status,
            403
        );
    }
    for token in ["", "x", &table.tokens[0]] {
        assert_eq!(
            site.post_as(&path("control"), token, &json!({"isPaused": true}))
                .status,
            403
        );
        assert_eq!(site.post_as(&path("undo"), token, &json!({})).status, 403);
    }
    // A watcher sees the board, but neither moves nor tokens.
    let seen = site.get(&format!("/api/matches/{}", table.id));
    let text = seen.text();
    assert!(
        table
            .tokens
            .iter()
            .all(|token| !text.contains(token.as_str()))
            && !text.contains(&table.owner)
    );
    assert_eq!(seen.json()["state"]["moves"], json!([[], []]));
    for id in ["", "x", &"0".repeat(32), &"f".repeat(32)] {
        assert_eq!(site.get(&format!("/api/matches/{id}")).status, 404);
    }
}

#[test]
fn sessions_and_searches_are_bounded() {
    let site = Site::with(|config| config.most_matches = 3);
    let setup = json!({"game": "tic_tac_toe", "seats": seats(&["person", "random"])});
    for _ in 0..3 {
        site.play(&setup);
    }
    let answer = site.post("/api/matches", &setup);
    assert_eq!((answer.status, answer.kind().as_str()), (429, "busy"));
    assert!(
        answer.json()["error"]["retryAfter"]
            .as_u64()
            .is_some_and(|seconds| seconds > 0)
    );
    let position = json!({"game": "tic_tac_toe", "seconds": 600});
    let statuses: Vec<u16> = (0..80)
        .map(|_| site.post("/api/analyses", &position).status)
        .collect();
    assert_eq!(statuses[0], 200);
    assert!(statuses.contains(&429), "{statuses:?}");
    for clock in [json!(0), json!(-1), json!(1e9), json!("x"), json!(null)] {
        let setup = json!({"game": "tic_tac_toe", "seats": seats(&["person", "random"]), "playClock": clock});
        assert_eq!(site.post("/api/matches", &setup).status, 400, "{clock}");
    }
    for player in ["nobody", "agon:threads=0", "agon:no_such=1"] {
        let setup = json!({"game": "tic_tac_toe", "seats": seats(&["person", player])});
        assert_eq!(site.post("/api/matches", &setup).status, 400, "{player}");
    }
    assert!(is_alive(&site));
}

#[test]
fn remote_players_must_be_on_the_list_of_a_public_server() {
    // Bound to all addresses, reached over loopback.
    let site = Site::with(|config| {
        config.address = ([0, 0, 0, 0], 0).into();
        config.allowed_players = vec!["player.invalid:9147".to_owned(), "127.0.0.9".to_owned()];
    });
    let site = Site {
        address: ([127, 0, 0, 1], site.address.port()).into(),
        data: site.data.clone(),
        server: Site::take(site),
    };
    let seat = |url: &str| json!({"game": "tic_tac_toe", "seats": [{"kind": "remote", "url": url}, {"kind": "bot", "player": "random"}]});
    let forbidden = [
        "http://127.0.0.1:22",
        "http://localhost:8147",
        "http://169.254.169.254",
        "http://[::1]:9147",
        "http://player.invalid:80",
        "http://127.0.0.9.evil.example",
    ];
    for url in forbidden {
        let answer = site.post("/api/matches", &seat(url));
        assert_eq!(
            (answer.status, answer.kind().as_str()),
            (403, "forbidden-url"),
            "{url}"
        );
        assert_eq!(
            site.post("/api/players/ping", &json!({"url": url})).status,
            403,
            "{url}"
        );
    }
    for url in [
        "file:///etc/passwd",
        "https://127.0.0.9",
        "gopher://x",
        "http://127.0.0.9/path",
        "http://user@127.0.0.9",
        "",
    ] {
        assert_eq!(site.post("/api/matches", &seat(url)).status, 400, "{url}");
    }
    assert_eq!(
        site.post("/api/matches", &seat("http://127.0.0.9:1"))
            .status,
        200
    );
    let tournament = json!({"name": "mine", "toml": "games = []"});
    assert_eq!(site.post("/api/tournaments", &tournament).status, 403);
    assert_eq!(
        site.get("/api/matches").json()["matches"],
        json!([]),
        "strangers see only public matches"
    );
}

impl Site {
    /// The server of a site, whose data stays.
    fn take(mut site: Site) -> Option<agon_web::Server> {
        site.data = std::path::PathBuf::new();
        site.server.take()
    }
}
