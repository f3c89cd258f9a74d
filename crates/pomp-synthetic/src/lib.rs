//! Procedural gaits with known terrain and known contacts.
