use crate::Image;

/// Colours that a GIF palette has room for beside the transparent one.
const MOST_COLORS: usize = 127;
/// Bits kept of each channel when colours are counted and looked up.
const BITS: u32 = 6;
const KEYS: usize = 1 << (3 * BITS);
const REFINEMENTS: usize = 6;

/// Counts of colours in sample pictures.
pub(crate) struct Histogram(Vec<u32>);

impl Histogram {
    pub(crate) fn new() -> Self {
        Self(vec![0; KEYS])
    }

    pub(crate) fn add(&mut self, image: &Image) {
        for pixel in image.rgba().chunks_exact(4) {
            let count = &mut self.0[key([pixel[0], pixel[1], pixel[2]])];
            *count = count.saturating_add(1);
        }
    }

    /// The palette of least weighted error that median cut and a few rounds of k-means find.
    ///
    /// Weights grow slower than counts, so that a small arrow keeps its colour beside a large sky.
    pub(crate) fn into_quantizer(self) -> Quantizer {
        let points: Vec<Point> = (0..KEYS)
            .filter(|&key| self.0[key] > 0)
            .map(|key| Point { at: center(key), weight: (self.0[key] as f32).powf(0.6) })
            .collect();
        let mut colors = median_cut(&points);
        for _ in 0..REFINEMENTS {
            refine(&mut colors, &points);
        }
        let mut colors: Vec<[u8; 3]> =
            colors.iter().map(|c| c.map(|v| v.round().clamp(0.0, 255.0) as u8)).collect();
        colors.sort_unstable();
        colors.dedup();
        let exact: Vec<[f32; 3]> = colors.iter().map(|c| c.map(f32::from)).collect();
        let nearest = (0..KEYS).map(|key| nearest(&exact, center(key)) as u8).collect();
        Quantizer { colors, nearest }
    }
}

#[derive(Clone, Copy)]
struct Point {
    at: [f32; 3],
    weight: f32,
}

/// A palette and the nearest entry of every colour.
pub(crate) struct Quantizer {
    colors: Vec<[u8; 3]>,
    nearest: Vec<u8>,
}

impl Quantizer {
    pub(crate) fn colors(&self) -> &[[u8; 3]] {
        &self.colors
    }

    /// Palette index of a colour.
    pub(crate) fn index(&self, color: [u8; 3]) -> u8 {
        self.nearest[key(color)]
    }

    /// Squared distance of a palette entry from a colour.
    pub(crate) fn error(&self, index: u8, color: [u8; 3]) -> i32 {
        let entry = self.colors[usize::from(index)];
        (0..3).map(|i| (i32::from(entry[i]) - i32::from(color[i])).pow(2)).sum()
    }
}

fn key(color: [u8; 3]) -> usize {
    color.iter().fold(0, |key, &c| key << BITS | usize::from(c >> (8 - BITS)))
}

fn center(key: usize) -> [f32; 3] {
    let mask = (1 << BITS) - 1;
    [2 * BITS, BITS, 0].map(|shift| ((key >> shift & mask) << (8 - BITS)) as f32 + 1.5)
}

fn nearest(colors: &[[f32; 3]], at: [f32; 3]) -> usize {
    let mut best = (f32::MAX, 0);
    for (index, color) in colors.iter().enumerate() {
        let error = (0..3).map(|i| (color[i] - at[i]).powi(2)).sum();
        if error < best.0 {
            best = (error, index);
        }
    }
    best.1
}

/// Splits the box with the largest weighted spread at its mean until there are enough boxes; their means.
fn median_cut(points: &[Point]) -> Vec<[f32; 3]> {
    let mut boxes = vec![Box3::new(points.to_vec())];
    while boxes.len() < MOST_COLORS {
        let widest =
            (0..boxes.len()).max_by(|&a, &b| boxes[a].spread.total_cmp(&boxes[b].spread).then(b.cmp(&a)));
        let Some(widest) = widest.filter(|&i| boxes[i].spread > 0.0) else { break };
        let split = boxes.swap_remove(widest);
        let (low, high): (Vec<Point>, Vec<Point>) =
            split.points.iter().partition(|p| p.at[split.axis] <= split.mean[split.axis]);
        if low.is_empty() || high.is_empty() {
            boxes.push(Box3 { spread: 0.0, ..split });
            continue;
        }
        boxes.push(Box3::new(low));
        boxes.push(Box3::new(high));
    }
    boxes.iter().map(|b| b.mean).collect()
}

struct Box3 {
    points: Vec<Point>,
    mean: [f32; 3],
    axis: usize,
    /// Weighted sum of squares along the longest axis.
    spread: f32,
}

impl Box3 {
    fn new(points: Vec<Point>) -> Self {
        let total: f32 = points.iter().map(|p| p.weight).sum();
        let sum = |f: &dyn Fn(&Point) -> f32| points.iter().map(|p| p.weight * f(p)).sum::<f32>();
        let mean = [0, 1, 2].map(|i| sum(&|p| p.at[i]) / total);
        let spreads = [0, 1, 2].map(|i| sum(&|p| (p.at[i] - mean[i]).powi(2)));
        let axis = (0..3).fold(0, |best, i| if spreads[i] > spreads[best] { i } else { best });
        Self { spread: spreads[axis], points, mean, axis }
    }
}

/// One round of k-means; colours without points stay.
fn refine(colors: &mut [[f32; 3]], points: &[Point]) {
    let mut sums = vec![([0.0f64; 3], 0.0f64); colors.len()];
    for point in points {
        let (sum, weight) = &mut sums[nearest(colors, point.at)];
        for (sum, at) in sum.iter_mut().zip(point.at) {
            *sum += f64::from(at * point.weight);
        }
        *weight += f64::from(point.weight);
    }
    for (color, (sum, weight)) in colors.iter_mut().zip(sums) {
        if weight > 0.0 {
            *color = sum.map(|s| (s / weight) as f32);
        }
    }
}
