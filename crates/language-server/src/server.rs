//! The loop: messages of the editor in, answers and findings out.

use std::collections::BTreeMap;
use std::error::Error;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::{Duration, Instant};

use agon_gdl::{Limits, format};
use crossbeam_channel::{never, select};
use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{
    self, DidChangeTextDocument, DidCloseTextDocument, DidOpenTextDocument, Notification as _,
    PublishDiagnostics, ShowMessage,
};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeActionKind, CodeActionOptions, CodeActionProviderCapability, CodeLensOptions,
    CompletionOptions, CompletionResponse, DocumentSymbolResponse, ExecuteCommandOptions,
    FoldingRangeProviderCapability, GotoDefinitionResponse, HoverProviderCapability, MessageType,
    OneOf, Position, PublishDiagnosticsParams, Range, RenameOptions, SemanticTokensFullOptions,
    SemanticTokensLegend, SemanticTokensOptions, ServerCapabilities, ShowMessageParams,
    TextDocumentSyncCapability, TextDocumentSyncKind, TextEdit, Uri,
};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::background::{Background, Job, News, Outcome};
use crate::document::Document;
use crate::{Observe, actions, complete, hover, lens, navigate, symbols, tokens};

/// What a server needs from outside.
#[derive(Clone)]
pub struct Options {
    /// Finds what shows only when the rules are grounded.
    pub observe: Observe,
}

/// Grounding starts when a text has not changed for this long.
const QUIET_TIME: Duration = Duration::from_millis(250);

type Failure = Box<dyn Error + Send + Sync>;

/// How an editor left.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ending {
    /// It said `shutdown` before, or just went away.
    Orderly,
    /// It said `exit` without `shutdown`.
    Abrupt,
}

/// Serves an editor until it says `exit` or goes away.
///
/// # Errors
/// If the editor goes away before `initialize`.
pub fn serve(connection: &Connection, options: &Options) -> Result<Ending, Failure> {
    let Some(params) = initialize(connection)? else {
        return Ok(Ending::Abrupt);
    };
    let refresh = params.pointer("/capabilities/workspace/codeLens/refreshSupport");
    let mut server = Server {
        connection,
        background: Background::start(options.observe.clone()),
        can_refresh: refresh.and_then(Value::as_bool).unwrap_or(false),
        documents: BTreeMap::new(),
        dirty: Vec::new(),
        generation: 0,
        n_requests: 0,
        is_shut_down: false,
    };
    // It fails only if messages cannot be sent any more: the editor is gone.
    Ok(server.run().unwrap_or(Ending::Orderly))
}

/// Waits for `initialize`, answers it, and returns its parameters; `None` if the editor says `exit` instead.
fn initialize(connection: &Connection) -> Result<Option<Value>, Failure> {
    for message in &connection.receiver {
        match message {
            Message::Request(request) if request.method == request::Initialize::METHOD => {
                let answer = serde_json::json!({
                    "capabilities": capabilities(),
                    "serverInfo": {"name": "agon", "version": env!("CARGO_PKG_VERSION")},
                });
                let answer = Response::new_ok(request.id, answer);
                connection.sender.send(answer.into())?;
                return Ok(Some(request.params));
            }
            Message::Request(request) => {
                let code = ErrorCode::ServerNotInitialized as i32;
                let message = format!("`{}` comes before `initialize`", request.method);
                let answer = Response::new_err(request.id, code, message);
                connection.sender.send(answer.into())?;
            }
            Message::Notification(notice) if notice.method == notification::Exit::METHOD => {
                return Ok(None);
            }
            Message::Notification(_) | Message::Response(_) => {}
        }
    }
    Err(
        "the input ended before `initialize`: this is a language server, which an editor starts"
            .into(),
    )
}

fn capabilities() -> ServerCapabilities {
    ServerCapabilities {
        text_document_sync: Some(TextDocumentSyncCapability::Kind(
            TextDocumentSyncKind::INCREMENTAL,
        )),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: Some(["(", "?", ","].map(str::to_owned).to_vec()),
            ..CompletionOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        references_provider: Some(OneOf::Left(true)),
        document_highlight_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        folding_range_provider: Some(FoldingRangeProviderCapability::Simple(true)),
        document_formatting_provider: Some(OneOf::Left(true)),
        rename_provider: Some(OneOf::Right(RenameOptions {
            prepare_provider: Some(true),
            work_done_progress_options: Default::default(),
        })),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        code_lens_provider: Some(CodeLensOptions {
            resolve_provider: Some(false),
        }),
        execute_command_provider: Some(ExecuteCommandOptions {
            commands: [lens::PLAY, lens::ANALYSE, lens::TELL]
                .map(str::to_owned)
                .to_vec(),
            ..ExecuteCommandOptions::default()
        }),
        semantic_tokens_provider: Some(
            SemanticTokensOptions {
                legend: SemanticTokensLegend {
                    token_types: tokens::TYPES.to_vec(),
                    token_modifiers: tokens::MODIFIERS.to_vec(),
                },
                full: Some(SemanticTokensFullOptions::Bool(true)),
                ..SemanticTokensOptions::default()
            }
            .into(),
        ),
        ..ServerCapabilities::default()
    }
}

struct Server<'a> {
    // constant
    connection: &'a Connection,
    background: Background,
    can_refresh: bool,
    // the open texts
    documents: BTreeMap<String, (Uri, Document)>,
    /// Texts that have changed and are not read again yet.
    dirty: Vec<String>,
    generation: u64,
    n_requests: i32,
    is_shut_down: bool,
}

impl Server<'_> {
    fn run(&mut self) -> Result<Ending, Failure> {
        loop {
            // Texts are read again when no message waits: somebody who types fast is not held up.
            if self.connection.receiver.is_empty() {
                self.read_changes()?;
            }
            let outcomes = match self.connection.receiver.is_empty() {
                true => self.background.outcomes.clone(),
                false => never(),
            };
            select! {
                recv(self.connection.receiver) -> message => match message {
                    Ok(message) => if let Some(ending) = self.message(message)? { return Ok(ending); },
                    Err(_) => return Ok(Ending::Orderly),
                },
                recv(outcomes) -> outcome => if let Ok(outcome) = outcome { self.outcome(outcome)?; },
            }
        }
    }

    /// Handles a message; how the editor left, if it did.
    fn message(&mut self, message: Message) -> Result<Option<Ending>, Failure> {
        match message {
            Message::Request(request) => {
                let answer = self.request(request)?;
                self.connection.sender.send(answer.into())?;
            }
            Message::Notification(notice) if notice.method == notification::Exit::METHOD => {
                return Ok(Some(match self.is_shut_down {
                    true => Ending::Orderly,
                    false => Ending::Abrupt,
                }));
            }
            Message::Notification(notice) if !self.is_shut_down => self.notice(notice)?,
            Message::Notification(_) | Message::Response(_) => {}
        }
        Ok(None)
    }

    fn request(&mut self, request: Request) -> Result<Response, Failure> {
        let id = request.id.clone();
        let refused = |message: &str| {
            let code = ErrorCode::InvalidRequest as i32;
            Ok(Response::new_err(
                request.id.clone(),
                code,
                message.to_owned(),
            ))
        };
        if self.is_shut_down {
            return refused("the server is shut down: only `exit` may follow");
        }
        match request.method.as_str() {
            request::Shutdown::METHOD => {
                self.is_shut_down = true;
                self.documents.clear();
                Ok(Response::new_ok(id, Value::Null))
            }
            request::Initialize::METHOD => refused("the server is initialized already"),
            _ => {
                self.read_changes()?;
                let answer = catch_unwind(AssertUnwindSafe(|| self.answer(request)));
                Ok(answer.unwrap_or_else(|_| {
                    let message = "the server failed on this request; please report it".to_owned();
                    Response::new_err(id, ErrorCode::InternalError as i32, message)
                }))
            }
        }
    }

    fn notice(&mut self, notification: Notification) -> Result<(), Failure> {
        let method = notification.method.clone();
        match method.as_str() {
            DidOpenTextDocument::METHOD => {
                let Some(params) = params::<DidOpenTextDocument>(notification) else {
                    return Ok(());
                };
                let item = params.text_document;
                let key = item.uri.as_str().to_owned();
                let document = Document::new(item.text, item.version);
                self.documents.insert(key.clone(), (item.uri, document));
                self.dirty.push(key);
            }
            DidChangeTextDocument::METHOD => {
                let Some(params) = params::<DidChangeTextDocument>(versioned(notification)) else {
                    return Ok(());
                };
                let key = params.text_document.uri.as_str();
                if let Some((_, document)) = self.documents.get_mut(key) {
                    document.change(params.content_changes, params.text_document.version);
                    self.dirty.push(key.to_owned());
                }
            }
            DidCloseTextDocument::METHOD => {
                let Some(params) = params::<DidCloseTextDocument>(notification) else {
                    return Ok(());
                };
                let uri = params.text_document.uri;
                if self.documents.remove(uri.as_str()).is_some() {
                    self.publish(uri, Vec::new(), None)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Reads the texts that have changed, publishes what they tell, and asks the second thread for the rest.
    fn read_changes(&mut self) -> Result<(), Failure> {
        let mut dirty = std::mem::take(&mut self.dirty);
        dirty.sort();
        dirty.dedup();
        for key in dirty {
            self.generation += 1;
            let Some((_, document)) = self.documents.get_mut(&key) else {
                continue;
            };
            let pause = match document.generation {
                0 => Duration::ZERO,
                _ => QUIET_TIME,
            };
            document.read_again(self.generation);
            let (rules, stop) = (document.reading.rules.clone(), Arc::clone(&document.stop));
            self.publish_findings(&key)?;
            if let Some(rules) = rules {
                self.background.ask(Job {
                    uri: key,
                    generation: self.generation,
                    rules,
                    start: Instant::now() + pause,
                    stop,
                });
            }
        }
        Ok(())
    }

    fn outcome(&mut self, outcome: Outcome) -> Result<(), Failure> {
        let Some((_, document)) = self.documents.get_mut(&outcome.uri) else {
            return Ok(());
        };
        if document.generation != outcome.generation {
            return Ok(());
        }
        match outcome.news {
            News::Observed(observed) => {
                let is_news = !observed.is_empty();
                document.observed = observed;
                if is_news {
                    self.publish_findings(&outcome.uri)?;
                }
            }
            News::Statistics(statistics) => {
                document.statistics = Some(statistics);
                if self.can_refresh {
                    self.n_requests += 1;
                    let id = RequestId::from(self.n_requests);
                    let method = request::CodeLensRefresh::METHOD.to_owned();
                    let refresh = Request::new(id, method, Value::Null);
                    self.connection.sender.send(refresh.into())?;
                }
            }
        }
        Ok(())
    }

    fn publish_findings(&self, key: &str) -> Result<(), Failure> {
        let Some((uri, document)) = self.documents.get(key) else {
            return Ok(());
        };
        let findings = actions::diagnostics(document, uri);
        self.publish(uri.clone(), findings, Some(document.version))
    }

    fn publish(
        &self,
        uri: Uri,
        diagnostics: Vec<lsp_types::Diagnostic>,
        version: Option<i32>,
    ) -> Result<(), Failure> {
        let params = PublishDiagnosticsParams {
            uri,
            diagnostics,
            version,
        };
        let notification = Notification::new(PublishDiagnostics::METHOD.to_owned(), params);
        self.connection.sender.send(notification.into())?;
        Ok(())
    }

    fn answer(&mut self, request: Request) -> Response {
        let id = request.id.clone();
        match request.method.as_str() {
            request::HoverRequest::METHOD => {
                self.reply(request, |server, params: lsp_types::HoverParams| {
                    let at = params.text_document_position_params;
                    let (_, document) = server.document(&at.text_document.uri)?;
                    Ok(hover::hover(document, at.position))
                })
            }
            request::GotoDefinition::METHOD => self.reply(
                request,
                |server, params: lsp_types::GotoDefinitionParams| {
                    let at = params.text_document_position_params;
                    let (uri, document) = server.document(&at.text_document.uri)?;
                    let locations = navigate::definitions(document, uri, at.position);
                    Ok(GotoDefinitionResponse::Array(locations))
                },
            ),
            request::References::METHOD => {
                self.reply(request, |server, params: lsp_types::ReferenceParams| {
                    let at = params.text_document_position;
                    let (uri, document) = server.document(&at.text_document.uri)?;
                    let all = params.context.include_declaration;
                    Ok(navigate::references(document, uri, at.position, all))
                })
            }
            request::DocumentHighlightRequest::METHOD => self.reply(
                request,
                |server, params: lsp_types::DocumentHighlightParams| {
                    let at = params.text_document_position_params;
                    let (_, document) = server.document(&at.text_document.uri)?;
                    Ok(navigate::highlights(document, at.position))
                },
            ),
            request::PrepareRenameRequest::METHOD => self.reply(
                request,
                |server, at: lsp_types::TextDocumentPositionParams| {
                    let (_, document) = server.document(&at.text_document.uri)?;
                    Ok(navigate::prepare(document, at.position))
                },
            ),
            request::Rename::METHOD => {
                self.reply(request, |server, params: lsp_types::RenameParams| {
                    let at = params.text_document_position;
                    let (uri, document) = server.document(&at.text_document.uri)?;
                    navigate::rename(document, uri, at.position, &params.new_name)
                })
            }
            request::DocumentSymbolRequest::METHOD => self.reply(
                request,
                |server, params: lsp_types::DocumentSymbolParams| {
                    let (_, document) = server.document(&params.text_document.uri)?;
                    Ok(DocumentSymbolResponse::Nested(symbols::symbols(document)))
                },
            ),
            request::FoldingRangeRequest::METHOD => {
                self.reply(request, |server, params: lsp_types::FoldingRangeParams| {
                    let (_, document) = server.document(&params.text_document.uri)?;
                    Ok(symbols::folds(document))
                })
            }
            request::SemanticTokensFullRequest::METHOD => self.reply(
                request,
                |server, params: lsp_types::SemanticTokensParams| {
                    let (_, document) = server.document(&params.text_document.uri)?;
                    Ok(tokens::tokens(document))
                },
            ),
            request::Completion::METHOD => {
                self.reply(request, |server, params: lsp_types::CompletionParams| {
                    let at = params.text_document_position;
                    let (_, document) = server.document(&at.text_document.uri)?;
                    Ok(CompletionResponse::Array(complete::complete(
                        document,
                        at.position,
                    )))
                })
            }
            request::Formatting::METHOD => self.reply(
                request,
                |server, params: lsp_types::DocumentFormattingParams| {
                    let (_, document) = server.document(&params.text_document.uri)?;
                    formatted(document)
                },
            ),
            request::CodeActionRequest::METHOD => {
                self.reply(request, |server, params: lsp_types::CodeActionParams| {
                    let (uri, document) = server.document(&params.text_document.uri)?;
                    Ok(actions::actions(document, uri, params.range))
                })
            }
            request::CodeLensRequest::METHOD => {
                self.reply(request, |server, params: lsp_types::CodeLensParams| {
                    let (uri, document) = server.document(&params.text_document.uri)?;
                    Ok(lens::lenses(document, uri))
                })
            }
            request::ExecuteCommand::METHOD => self.reply(
                request,
                |server, params: lsp_types::ExecuteCommandParams| {
                    let text = server.command(&params)?;
                    server.show(text);
                    Ok(Value::Null)
                },
            ),
            method => {
                let message = format!("`{method}` is not supported");
                Response::new_err(id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    fn reply<P: DeserializeOwned, R: Serialize>(
        &self,
        request: Request,
        work: impl FnOnce(&Self, P) -> Result<R, String>,
    ) -> Response {
        let params = match serde_json::from_value(request.params) {
            Ok(params) => params,
            Err(error) => {
                let code = ErrorCode::InvalidParams as i32;
                return Response::new_err(request.id, code, error.to_string());
            }
        };
        match work(self, params) {
            Ok(answer) => Response::new_ok(request.id, answer),
            Err(message) => Response::new_err(request.id, ErrorCode::RequestFailed as i32, message),
        }
    }

    fn document(&self, uri: &Uri) -> Result<(&Uri, &Document), String> {
        let found = self.documents.get(uri.as_str());
        found
            .map(|(uri, document)| (uri, document))
            .ok_or_else(|| format!("{} is not open", uri.as_str()))
    }

    /// What a command of a lens says to editors that do not handle it themselves.
    fn command(&self, params: &lsp_types::ExecuteCommandParams) -> Result<String, String> {
        let uri = params.arguments.first().and_then(Value::as_str);
        let uri = uri.ok_or("the command needs the address of a rulesheet")?;
        let path = uri.strip_prefix("file://").unwrap_or(uri);
        let statistics = self
            .documents
            .get(uri)
            .and_then(|(_, document)| document.statistics.as_ref().map(lens::title));
        match params.command.as_str() {
            lens::PLAY => Ok(format!("To play it, run `agon play {path}` in a terminal.")),
            lens::ANALYSE => Ok(format!(
                "To analyse it, run `agon analyse {path}` in a terminal."
            )),
            lens::TELL => Ok(statistics.unwrap_or_else(|| "Not grounded yet.".to_owned())),
            other => Err(format!("there is no command `{other}`")),
        }
    }

    fn show(&self, message: String) {
        let params = ShowMessageParams {
            typ: MessageType::INFO,
            message,
        };
        let notification = Notification::new(ShowMessage::METHOD.to_owned(), params);
        // If the editor is gone, the loop will see it.
        let _ = self.connection.sender.send(notification.into());
    }
}

/// The parameters of a notification; broken ones are ignored, as there is nobody to tell.
fn params<N: notification::Notification>(notification: Notification) -> Option<N::Params> {
    serde_json::from_value(notification.params).ok()
}

/// A change whose text has no version is a change all the same: without it every later place would be wrong.
fn versioned(mut notification: Notification) -> Notification {
    if let Some(version) = notification.params.pointer_mut("/textDocument/version")
        && !version.is_i64()
    {
        *version = Value::from(0);
    } else if let Some(Value::Object(document)) = notification.params.get_mut("textDocument") {
        document.entry("version").or_insert(Value::from(0));
    }
    notification
}

/// The edits that format a text: one that replaces it all, or none.
fn formatted(document: &Document) -> Result<Vec<TextEdit>, String> {
    let text = document.text();
    let new = format(text.as_bytes(), &Limits::default())
        .map_err(|_| "the text has syntax errors, so its layout is unknown".to_owned())?;
    let new = String::from_utf8(new).map_err(|_| "the text is not UTF-8".to_owned())?;
    if new == text {
        return Ok(Vec::new());
    }
    let end = document.reading.position(text.len() as u32);
    Ok(vec![TextEdit::new(
        Range::new(Position::new(0, 0), end),
        new,
    )])
}
