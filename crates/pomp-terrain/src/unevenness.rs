use crate::HeightMap;
use pomp_motion::statistics::percentiles;

/// Shares of the ground at which slope and deviation are taken.
const SHARES: [f64; 4] = [0.5, 0.9, 0.99, 1.0];
/// Distance between the places that are looked at, metres, unless the cells are larger: less than what deviates is wide after smoothing.
const EVERY_M: f32 = 0.2;
/// A ground is as uneven as another up to this factor and these differences: grounds of one kind differ as much by their seeds.
const ALIKE: f64 = 1.1;
const ALIKE_SLOPE_DEG: f64 = 0.5;
const ALIKE_M: f64 = 0.006;

/// How steep and how rough a ground is.
#[derive(Clone, Debug, PartialEq)]
pub struct Unevenness {
    /// Slope of the [smoothed](HeightMap::smoothed_height) ground, degrees, that half, 90 %, 99 % and all of the ground do not exceed.
    pub slope_deg: [f64; 4],
    /// The same of the distance between the ground and the smoothed ground, metres.
    pub deviation_m: [f64; 4],
}

impl Unevenness {
    /// Whether the ground is nowhere steeper or rougher than the other, but for as little as two grounds of one kind differ.
    pub fn is_within(&self, other: &Self) -> bool {
        let within = |own: &[f64; 4], other: &[f64; 4], alike: f64| {
            own.iter().zip(other).all(|(own, other)| *own <= ALIKE * other + alike)
        };
        within(&self.slope_deg, &other.slope_deg, ALIKE_SLOPE_DEG)
            && within(&self.deviation_m, &other.deviation_m, ALIKE_M)
    }
}

impl HeightMap {
    /// How steep and how rough it is.
    pub fn unevenness(&self) -> Unevenness {
        let every = EVERY_M.max(self.cell_m());
        let bounds = self.bounds();
        let (mut slopes, mut deviations) = (Vec::new(), Vec::new());
        let places =
            |min: f32, max: f32| (0..=((max - min) / every) as usize).map(move |i| min + i as f32 * every);
        for z in places(bounds.min_z, bounds.max_z) {
            for x in places(bounds.min_x, bounds.max_x) {
                let smoothed = self.smoothed_height(x, z);
                let rise = |dx: f32, dz: f32| (self.smoothed_height(x + dx, z + dz) - smoothed) / every;
                slopes.push(rise(every, 0.0).hypot(rise(0.0, every)).atan().to_degrees());
                deviations.push((self.height(x, z) - smoothed).abs());
            }
        }
        let at = |values: &[f32]| percentiles(values, SHARES).expect("a map has places");
        Unevenness { slope_deg: at(&slopes), deviation_m: at(&deviations) }
    }
}
