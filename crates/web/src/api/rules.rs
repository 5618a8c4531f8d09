//! Writing rules: findings, layout, and what is known about a name.

use agon_gdl::{Limits, Severity, parse};
use axum::extract::State;
use serde::{Deserialize, Serialize};

use super::{Answer, Sent, Shared, aside, check_length, work};
use crate::error::ApiError;
use crate::writing::{Finding, Hover, Units, hover_at};

#[derive(Deserialize)]
pub(crate) struct Written {
    rules: String,
    #[serde(default)]
    metadata: Option<String>,
}

#[derive(Serialize)]
pub(crate) struct Checked {
    ok: bool,
    roles: Vec<String>,
    findings: Vec<Finding>,
}

pub(crate) async fn check(State(service): Shared, Sent(sent): Sent<Written>) -> Answer<Checked> {
    check_length(&sent.rules)?;
    work(&service, move |service| {
        let metadata = sent
            .metadata
            .as_deref()
            .filter(|text| !text.trim().is_empty());
        let findings = (service.hooks.check)(&sent.rules, metadata);
        let units = Units::new(&sent.rules);
        let is_error = |finding: &Finding| finding.severity == Severity::Error;
        let roles = match agon_gdl::check(&parse(sent.rules.as_bytes(), &Limits::default())) {
            Ok(rules) => rules
                .roles
                .iter()
                .map(|role| rules.term_text(role))
                .collect(),
            Err(_) => Vec::new(),
        };
        Ok(Checked {
            ok: !findings.iter().any(is_error),
            roles,
            findings: findings
                .into_iter()
                .map(|finding| finding.in_units(&units))
                .collect(),
        })
    })
    .await
}

#[derive(Serialize)]
pub(crate) struct Formatted {
    rules: String,
}

pub(crate) async fn format(State(service): Shared, Sent(sent): Sent<Written>) -> Answer<Formatted> {
    check_length(&sent.rules)?;
    aside(&service, move |_| {
        let limits = Limits::default();
        let formatted = agon_gdl::format(sent.rules.as_bytes(), &limits).map_err(|found| {
            let source = parse(sent.rules.as_bytes(), &limits).source;
            let units = Units::new(&sent.rules);
            let findings = found
                .iter()
                .map(|finding| Finding::from_diagnostic(finding, &source).in_units(&units));
            ApiError::rules(
                "the rules cannot be read, so they have no layout",
                findings.collect(),
            )
        })?;
        Ok(Formatted {
            rules: String::from_utf8_lossy(&formatted).into_owned(),
        })
    })
    .await
}

#[derive(Deserialize)]
pub(crate) struct Pointed {
    rules: String,
    at: usize,
}

pub(crate) async fn hover(
    State(service): Shared,
    Sent(sent): Sent<Pointed>,
) -> Answer<Option<Hover>> {
    check_length(&sent.rules)?;
    aside(&service, move |_| Ok(hover_at(&sent.rules, sent.at))).await
}
