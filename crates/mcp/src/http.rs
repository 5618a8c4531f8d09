//! The server over HTTP: an address, and a token that every request must have.

use std::error::Error;
use std::net::SocketAddr;
use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};

use crate::server::Server;

/// Where and for whom to serve.
#[derive(Clone, Debug)]
pub struct HttpOptions {
    /// The address to listen on; port 0 takes any free one.
    pub address: SocketAddr,
    /// The token; a new one is drawn if there is none.
    pub token: Option<String>,
}

/// Serves clients over HTTP until the process ends. `ready` is called with the address and the token.
///
/// # Errors
/// If the address cannot be used.
pub fn serve_http(
    options: &HttpOptions,
    ready: &mut dyn FnMut(SocketAddr, &str),
) -> Result<(), Box<dyn Error + Send + Sync>> {
    let token = match &options.token {
        Some(token) => token.clone(),
        None => fresh_token()?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let server = Server::new();
        let service = StreamableHttpService::new(
            move || Ok(server.clone()),
            Arc::new(LocalSessionManager::default()),
            config(options.address),
        );
        let expected: Arc<str> = Arc::from(format!("Bearer {token}"));
        let app = axum::Router::new()
            .route_service("/mcp", service)
            .layer(middleware::from_fn_with_state(expected, authorise));
        let listener = tokio::net::TcpListener::bind(options.address).await?;
        ready(listener.local_addr()?, &token);
        axum::serve(listener, app).await?;
        Ok(())
    })
}

/// Names by which this host may be called: a page of another site must not reach a server on the loopback address.
fn config(address: SocketAddr) -> StreamableHttpServerConfig {
    let mut config = StreamableHttpServerConfig::default();
    if !address.ip().is_loopback() {
        // A client with the token may call it by any name.
        config.allowed_hosts = Vec::new();
    }
    config
}

/// Refuses requests without the token. The comparison takes the same time wherever the texts differ.
async fn authorise(State(expected): State<Arc<str>>, request: Request, next: Next) -> Response {
    let given = request.headers().get(header::AUTHORIZATION);
    let given = given
        .map(axum::http::HeaderValue::as_bytes)
        .unwrap_or_default();
    let difference = given
        .iter()
        .zip(expected.as_bytes())
        .fold(0, |sum, (left, right)| sum | (left ^ right));
    if given.len() != expected.len() || difference != 0 {
        let message = "the header `Authorization: Bearer TOKEN` is missing or wrong\n";
        return (StatusCode::UNAUTHORIZED, message).into_response();
    }
    next.run(request).await
}

fn fresh_token() -> Result<String, Box<dyn Error + Send + Sync>> {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}
