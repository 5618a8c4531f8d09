//! News for pages, as server-sent events.
//!
//! Code that changes something publishes a [`News`]; every open stream gets it. A page that reads too slowly misses some and is
//! told the version it should ask for.

use std::convert::Infallible;
use std::time::Duration;

use axum::response::sse::{Event, KeepAlive, Sse};
use axum::response::{IntoResponse, Response};
use serde::Serialize;
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::{broadcast, mpsc};

/// News that wait for a slow page.
const BACKLOG: usize = 64;
/// How often an open stream says that it lives.
const KEEP_ALIVE: Duration = Duration::from_secs(15);

/// Something that happened.
#[derive(Clone, Debug)]
pub(crate) struct News {
    pub(crate) event: &'static str,
    pub(crate) data: String,
}

impl News {
    pub(crate) fn new(event: &'static str, data: &impl Serialize) -> News {
        let data = serde_json::to_string(data).unwrap_or_else(|_| "null".to_owned());
        News { event, data }
    }
}

/// Where news are published.
#[derive(Clone)]
pub(crate) struct Wire(broadcast::Sender<News>);

impl Default for Wire {
    fn default() -> Wire {
        Wire(broadcast::channel(BACKLOG).0)
    }
}

impl Wire {
    /// Tells everybody who listens.
    pub(crate) fn publish(&self, news: News) {
        // Nobody may be listening.
        let _ = self.0.send(news);
    }

    /// How many listen.
    pub(crate) fn n_listeners(&self) -> usize {
        self.0.receiver_count()
    }

    /// Everything from now on.
    pub(crate) fn listen(&self) -> broadcast::Receiver<News> {
        self.0.subscribe()
    }
}

/// A stream of events: first these, then all that pass the filter. `missed` makes the news for a page that was too slow.
/// `held` is dropped when the stream ends.
pub(crate) fn stream(
    first: Vec<News>,
    mut source: broadcast::Receiver<News>,
    is_wanted: impl Fn(&News) -> bool + Send + 'static,
    missed: impl Fn() -> Option<News> + Send + 'static,
    held: impl Send + 'static,
) -> Response {
    let (sender, receiver) = mpsc::channel::<News>(4);
    tokio::spawn(async move {
        let _held = held;
        for news in first {
            if sender.send(news).await.is_err() {
                return;
            }
        }
        loop {
            let next = tokio::select! {
                next = source.recv() => next,
                () = sender.closed() => return,
            };
            let news = match next {
                Ok(news) if is_wanted(&news) => Some(news),
                Ok(_) => None,
                Err(RecvError::Lagged(_)) => missed(),
                Err(RecvError::Closed) => return,
            };
            let Some(news) = news else { continue };
            let is_last = matches!(news.event, "end" | "gone");
            if sender.send(news).await.is_err() || is_last {
                return;
            }
        }
    });
    let events = Events(receiver);
    let sse = Sse::new(events).keep_alive(KeepAlive::new().interval(KEEP_ALIVE));
    sse.into_response()
}

/// The receiving end as a stream of events.
struct Events(mpsc::Receiver<News>);

impl futures_core::Stream for Events {
    type Item = Result<Event, Infallible>;

    fn poll_next(
        mut self: std::pin::Pin<&mut Self>,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Option<Self::Item>> {
        let next = self.0.poll_recv(context);
        next.map(|news| news.map(|news| Ok(Event::default().event(news.event).data(news.data))))
    }
}
