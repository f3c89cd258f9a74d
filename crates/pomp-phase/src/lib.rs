//! The phase encoding module: periodic autoencoder, aligned periodic autoencoder, phase manifold.
