use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

/// Where the reverse process of one character draws its noise.
pub trait NoiseSource {
    /// The next standard normal draw.
    fn draw(&mut self) -> f32;
}

/// Every draw is independent of all others.
impl NoiseSource for ChaCha8Rng {
    fn draw(&mut self) -> f32 {
        self.sample(StandardNormal)
    }
}

/// Standard normal noise that changes slowly from frame to frame (ours).
///
/// Each of the draws of a frame is an Ornstein-Uhlenbeck process over the frames: z ← ρ z + √(1 − ρ²) ε. The sample of a
/// frame has the distribution that the reverse process gives it, whatever ρ; but the next one deviates in the same
/// way, so that chance is a manner of moving and not a tremor.
#[derive(Clone, Debug)]
pub struct CoherentNoise {
    rng: ChaCha8Rng,
    persistence: f32,
    innovation: f32,
    values: Vec<f32>,
    next: usize,
}

impl CoherentNoise {
    /// Noise for frames of `draws` draws ([`KinematicInference::draws`](crate::KinematicInference::draws)),
    /// `frame_s` apart, that forgets within `memory_s`: ρ = exp(−frame / memory). A memory of 0 draws every frame anew.
    pub fn new(seed: u64, draws: usize, frame_s: f32, memory_s: f32) -> Self {
        let persistence = if memory_s > 0.0 { (-frame_s / memory_s).exp() } else { 0.0 };
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let values = (0..draws).map(|_| rng.draw()).collect();
        Self { rng, persistence, innovation: (1.0 - persistence * persistence).sqrt(), values, next: 0 }
    }
}

impl NoiseSource for CoherentNoise {
    /// The next draw of this frame; after the last one comes the first of the next frame.
    ///
    /// # Panics
    /// When there are no draws in a frame.
    fn draw(&mut self) -> f32 {
        let fresh = self.rng.draw();
        let value = self.values[self.next] * self.persistence + fresh * self.innovation;
        self.values[self.next] = value;
        self.next += 1;
        if self.next == self.values.len() {
            self.next = 0;
        }
        value
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(memory_s: f32, count: usize) -> Vec<[f32; 8]> {
        let mut noise = CoherentNoise::new(3, 8, 1.0 / 60.0, memory_s);
        (0..count).map(|_| std::array::from_fn(|_| noise.draw())).collect()
    }

    #[test]
    fn every_frame_is_standard_normal_whatever_the_memory() {
        for memory_s in [0.0, 0.1] {
            let values: Vec<f64> = frames(memory_s, 20_000).into_iter().flatten().map(f64::from).collect();
            let mean = values.iter().sum::<f64>() / values.len() as f64;
            let variance = values.iter().map(|v| v * v).sum::<f64>() / values.len() as f64;
            assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean} and {variance}");
        }
    }

    #[test]
    fn a_draw_is_forgotten_over_the_memory_and_independent_of_its_neighbours() {
        let frames = frames(0.1, 20_000);
        let correlation = |lag: usize, shift: usize| {
            let products = frames.iter().zip(&frames[lag..]).map(|(a, b)| f64::from(a[0] * b[shift]));
            products.sum::<f64>() / (frames.len() - lag) as f64
        };
        for lag in [1, 6, 12] {
            let expected = (-(lag as f64) / 6.0).exp();
            assert!((correlation(lag, 0) - expected).abs() < 0.04, "lag {lag}: {}", correlation(lag, 0));
        }
        assert!(correlation(0, 1).abs() < 0.04 && correlation(1, 1).abs() < 0.04);
    }
}
