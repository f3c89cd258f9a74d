//! Pictures of clips and rollouts by tiny-skia.
