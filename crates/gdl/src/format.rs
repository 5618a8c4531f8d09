//! stub
use crate::{Limits, Diagnostics};
/// x
pub fn format(_t:&[u8], _l:&Limits)->Result<String,Diagnostics>{ Err(Diagnostics::new()) }
