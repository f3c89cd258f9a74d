//! Laws that the dynamic module obeys, with a control beside each treatment.

mod balance;
mod boxes;
mod control;
mod expectation;
mod laws;
mod measure;
mod meeting;
mod rejects;
mod support;
