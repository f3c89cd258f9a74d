//! Laws that the dynamic module obeys, with a control beside each treatment.

mod measure;
#[allow(dead_code, reason = "shared by test modules that come and go")]
mod support;
