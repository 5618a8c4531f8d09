//! Rulesheets on the server, by the hash of their text, in chunks.
//!
//! A worker fetches a sheet once, checks that its text has the hash that it was asked for, and keeps the compiled game. Rules
//! are text that is read by the same checks as any other rulesheet.

use agon_tournament::Sheet;
use async_nats::jetstream::Context;
use async_nats::jetstream::message::PublishMessage;
use bytes::Bytes;

use crate::error::ClusterError;
use crate::queue::Names;

/// The largest rulesheet.
pub(crate) const MOST_BYTES: usize = 10 << 20;
/// Size of a chunk; servers accept a megabyte by default.
const CHUNK: usize = 256 << 10;

/// The header with the number of chunks.
const N_CHUNKS: &str = "Agon-Chunks";

/// Puts the rules of a sheet on the server, unless they are there.
pub(crate) async fn put(
    context: &Context,
    names: &Names,
    sheet: &Sheet,
) -> Result<(), ClusterError> {
    let text = sheet.text();
    if text.len() > MOST_BYTES {
        return Err(ClusterError::TooLarge {
            game: sheet.name.clone(),
            bytes: text.len(),
            most: MOST_BYTES,
        });
    }
    let chunks: Vec<&[u8]> = text.as_bytes().chunks(CHUNK).collect();
    // The first chunk comes last: where it is, the others are.
    for (number, chunk) in chunks.iter().enumerate().rev() {
        let message = PublishMessage::build()
            .payload(Bytes::copy_from_slice(chunk))
            .header(N_CHUNKS, chunks.len().to_string().as_str());
        let sent = context
            .send_publish(names.object(&sheet.hash, number), message)
            .await;
        let sent = sent.map_err(|error| ClusterError::server("sending rules", &error))?;
        sent.await
            .map_err(|error| ClusterError::server("sending rules", &error))?;
    }
    Ok(())
}

/// Fetches the text of rules. What [`compile`] checks is not checked here.
pub(crate) async fn get(
    context: &Context,
    names: &Names,
    hash: &str,
) -> Result<Vec<u8>, ClusterError> {
    let fail = |error: &dyn ToString| ClusterError::server("fetching rules", error);
    let stream = context.get_stream_no_info(names.object_stream()).await;
    let stream = stream.map_err(|error| fail(&error))?;
    let mut bytes = Vec::new();
    let mut n_chunks = 1;
    let mut number = 0;
    while number < n_chunks && bytes.len() <= MOST_BYTES {
        let subject = names.object(hash, number);
        let chunk = stream.get_last_raw_message_by_subject(&subject).await;
        let chunk = chunk.map_err(|error| fail(&error))?;
        if number == 0 {
            let header = chunk.headers.get(N_CHUNKS);
            n_chunks = header.and_then(|n| n.as_str().parse().ok()).unwrap_or(1);
        }
        bytes.extend_from_slice(&chunk.payload);
        number += 1;
    }
    Ok(bytes)
}

/// Compiles rules that were sent under this hash.
pub(crate) fn compile(name: &str, hash: &str, bytes: Vec<u8>) -> Result<Sheet, String> {
    if bytes.len() > MOST_BYTES {
        return Err(format!("it has more than {MOST_BYTES} bytes"));
    }
    let text = String::from_utf8(bytes).map_err(|_| "it is not text".to_owned())?;
    let sheet = Sheet::from_text(name, &text).map_err(|error| error.to_string())?;
    match sheet.hash == hash && sheet.text() == text {
        true => Ok(sheet),
        false => Err(format!("its hash is {} and not {hash}", sheet.hash)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULES: &str = "(role x) (init a) (legal x go) (<= (next b) (does x go)) (<= terminal (true b)) (goal x 100)";

    #[test]
    fn rules_are_verified() {
        let sheet = Sheet::from_text("lamp", RULES).expect("it is a game");
        let text = sheet.text();
        let compiled = compile("lamp", &sheet.hash, text.clone().into_bytes());
        assert_eq!(compiled.map(|same| same.hash), Ok(sheet.hash.clone()));
        let other = text.replace("100", "50").into_bytes();
        assert!(compile("lamp", &sheet.hash, other).is_err_and(|error| error.contains("hash")));
        assert!(compile("lamp", &sheet.hash, b"(role".to_vec()).is_err());
        assert!(compile("lamp", &sheet.hash, vec![0xff]).is_err());
    }
}
