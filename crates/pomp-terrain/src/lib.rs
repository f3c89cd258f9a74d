//! Height-map terrain: generators, queries and files.
