//! Metrics over recorded rollouts and clips.
