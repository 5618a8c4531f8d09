//! The HTTP server: connections, their bounds, and the way from a request to its handler.
//!
//! A connection that sends no complete head in time is closed. When there are too many connections, the one that has been idle
//! for longest makes room; streams and requests at work are not touched.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::header::CONTENT_TYPE;
use axum::http::{Request, Response};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Notify, oneshot};
use tower_service::Service as _;

use crate::api;
use crate::config::{Config, Hooks};
use crate::own_player::OwnPlayer;
use crate::service::Service;

/// How long a head may take.
const HEAD: Duration = Duration::from_secs(10);
/// Bytes of a head.
const MOST_HEAD: usize = 64 << 10;

/// A server that answers until it is dropped.
pub struct Server {
    address: SocketAddr,
    player_url: Option<String>,
    service: Arc<Service>,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Server {
    /// Starts the server.
    ///
    /// # Errors
    /// If the address is taken, or the data folder cannot be written.
    pub fn start(config: Config, hooks: Hooks) -> io::Result<Server> {
        let listener = std::net::TcpListener::bind(config.address)?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let most = config.most_connections;
        let config = Config { address, ..config };
        let service = Service::new(config, hooks)?;
        let player_url = service.own_player.as_ref().map(OwnPlayer::url);
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .max_blocking_threads(64)
            .thread_name("web")
            .enable_all()
            .build()?;
        let routed = Arc::clone(&service);
        let (stop, is_stopped) = oneshot::channel();
        let thread = thread::Builder::new().name("web server".to_owned());
        let thread = thread.spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = TcpListener::from_std(listener) else {
                    return;
                };
                let router = api::router(routed);
                tokio::select! {
                    () = accept(listener, router, most) => {}
                    _ = is_stopped => {}
                }
            });
            runtime.shutdown_timeout(Duration::from_millis(200));
        })?;
        Ok(Server {
            address,
            player_url,
            service,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Where it listens, with the port that it got.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of the page.
    #[must_use]
    pub fn url(&self) -> String {
        let mut address = self.address;
        if address.ip().is_unspecified() {
            address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
        }
        format!("http://{address}/")
    }

    /// The address of its GGP player, if it has one.
    #[must_use]
    pub fn player_url(&self) -> Option<&str> {
        self.player_url.as_deref()
    }

    /// Answers until the process ends.
    pub fn wait(mut self) {
        if let Some(thread) = self.thread.take() {
            // It ends only when it is told to, and nobody else can tell it.
            let _ = thread.join();
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
        self.service.shut_down();
    }
}

/// A connection, as the one who closes connections sees it.
struct Connection {
    close: Notify,
    /// Requests at work, and streams.
    n_busy: AtomicUsize,
    idle_since: Mutex<Instant>,
}

impl Connection {
    fn idle_since(&self) -> Instant {
        *self
            .idle_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    fn begin(&self) {
        self.n_busy.fetch_add(1, Ordering::Relaxed);
    }

    fn end(&self) {
        self.n_busy.fetch_sub(1, Ordering::Relaxed);
        *self
            .idle_since
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Instant::now();
    }
}

/// All connections.
struct Connections {
    most: usize,
    all: Mutex<Vec<Arc<Connection>>>,
}

impl Connections {
    /// A place for one more; the one that is idle for longest makes room. `None` if all are at work.
    fn add(&self) -> Option<Arc<Connection>> {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= self.most {
            let idle = all
                .iter()
                .enumerate()
                .filter(|(_, known)| known.n_busy.load(Ordering::Relaxed) == 0);
            let (idx, _) = idle.min_by_key(|(_, known)| known.idle_since())?;
            all.swap_remove(idx).close.notify_one();
        }
        let added = Arc::new(Connection {
            close: Notify::new(),
            n_busy: AtomicUsize::new(0),
            idle_since: Mutex::new(Instant::now()),
        });
        all.push(Arc::clone(&added));
        Some(added)
    }

    fn remove(&self, connection: &Arc<Connection>) {
        let mut all = self.all.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|known| !Arc::ptr_eq(known, connection));
    }
}

async fn accept(listener: TcpListener, router: Router, most: usize) {
    let connections = Arc::new(Connections {
        most,
        all: Mutex::default(),
    });
    loop {
        let Ok((stream, _)) = listener.accept().await else {
            // Too many open files, for instance: others may end soon.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Some(connection) = connections.add() else {
            continue;
        };
        let (router, connections) = (router.clone(), Arc::clone(&connections));
        tokio::spawn(async move {
            serve(stream, router, &connection).await;
            connections.remove(&connection);
        });
    }
}

async fn serve(stream: TcpStream, router: Router, connection: &Arc<Connection>) {
    // A small answer should not wait for a larger one.
    let _ = stream.set_nodelay(true);
    let at_work = Arc::clone(connection);
    let handler = service_fn(move |request: Request<Incoming>| {
        let (mut router, connection) = (router.clone(), Arc::clone(&at_work));
        async move {
            connection.begin();
            let Ok(response): Result<Response<Body>, Infallible> = router.call(request).await;
            // A stream is at work until its connection ends.
            let kind = response.headers().get(CONTENT_TYPE);
            if kind.is_none_or(|kind| kind != "text/event-stream") {
                connection.end();
            }
            Ok::<_, Infallible>(response)
        }
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD)
        .max_buf_size(MOST_HEAD)
        .serve_connection(TokioIo::new(stream), handler);
    tokio::select! {
        // A broken connection concerns nobody else.
        _ = served => {}
        () = connection.close.notified() => {}
    }
}
