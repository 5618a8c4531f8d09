//! The connection of the protocol with the tools and resources.

use std::error::Error;
use std::sync::Arc;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, ErrorData,
    Implementation, InitializeResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult, Resource,
    ResourceContents, ServerCapabilities, Tool,
};
use rmcp::service::RequestContext;
use rmcp::transport::stdio;
use rmcp::{RoleServer, ServerHandler, ServiceExt};
use tokio::sync::Semaphore;

use crate::match_table::MatchTable;
use crate::tools::{TOOLS, call};

/// Calls that work at the same time; the others wait.
const MOST_CALLS: usize = 2;

const DOCS: &[(&str, &str, &str)] = &[
    ("gdl", "GDL in one page", include_str!("../docs/gdl.md")),
    (
        "tools",
        "How to play through this server",
        include_str!("../docs/tools.md"),
    ),
];

/// The server; its clones share the matches.
#[derive(Clone)]
pub(crate) struct Server {
    matches: Arc<MatchTable>,
    calls: Arc<Semaphore>,
}

impl Server {
    pub(crate) fn new() -> Server {
        Server {
            matches: Arc::new(MatchTable::default()),
            calls: Arc::new(Semaphore::new(MOST_CALLS)),
        }
    }
}

/// Serves one client over standard input and output until it goes away.
///
/// # Errors
/// If the connection cannot be made or breaks.
pub fn serve_stdio() -> Result<(), Box<dyn Error + Send + Sync>> {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    runtime.block_on(async {
        let running = Server::new().serve(stdio()).await?;
        running.waiting().await?;
        Ok(())
    })
}

impl ServerHandler for Server {
    fn get_info(&self) -> InitializeResult {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        InitializeResult::new(capabilities)
            .with_server_info(Implementation::new("agon", env!("CARGO_PKG_VERSION")))
            .with_instructions("Play any game from its rules in GDL: read_rules, start_match, make_move. The resource agon://docs/tools has the rest.")
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = TOOLS
            .iter()
            .map(|tool| Tool::new(tool.name, tool.description, tool.schema()));
        Ok(ListToolsResult::with_all_items(tools.collect()))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let failed = |_| ErrorData::internal_error("the server is closing", None);
        let _permit = self.calls.acquire().await.map_err(failed)?;
        let matches = Arc::clone(&self.matches);
        let arguments = request.arguments.unwrap_or_default();
        // Searches and compilers take their time: not on the thread that answers.
        let work = move || call(&matches, &request.name, &arguments);
        let answer = tokio::task::spawn_blocking(work).await;
        let result = match answer {
            Ok(Ok(value)) => {
                let mut result =
                    CallToolResult::success(vec![ContentBlock::text(value.to_string())]);
                result.structured_content = Some(value);
                result
            }
            Ok(Err(message)) => CallToolResult::error(vec![ContentBlock::text(message)]),
            Err(_) => {
                let message = "the call failed inside; please report it with its arguments";
                CallToolResult::error(vec![ContentBlock::text(message)])
            }
        };
        Ok(result.into())
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let docs = DOCS.iter().map(|(name, title, _)| {
            Resource::new(format!("agon://docs/{name}"), *name)
                .with_title(*title)
                .with_mime_type("text/markdown")
        });
        let games = agon_games::games().into_iter().map(|game| {
            Resource::new(format!("agon://games/{}", game.name), game.name)
                .with_title(game.about.title)
                .with_mime_type("text/plain")
        });
        Ok(ListResourcesResult::with_all_items(
            docs.chain(games).collect(),
        ))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let uri = request.uri;
        let text = match uri
            .strip_prefix("agon://")
            .and_then(|path| path.split_once('/'))
        {
            Some(("docs", name)) => DOCS
                .iter()
                .find(|(known, _, _)| *known == name)
                .map(|(_, _, text)| *text),
            Some(("games", name)) => agon_games::find(name).map(|game| game.sheet),
            _ => None,
        };
        match text {
            Some(text) => {
                let contents = ResourceContents::text(text, uri);
                Ok(ReadResourceResult::new(vec![contents]).into())
            }
            None => Err(ErrorData::resource_not_found(
                format!("there is no resource {uri}"),
                None,
            )),
        }
    }
}
