//! Laws of charts.

use pomp_render::{Image, Plot, RenderError};

fn count(image: &Image, is: impl Fn([i32; 3]) -> bool) -> Vec<(u32, u32)> {
    (0..image.height())
        .flat_map(|y| (0..image.width()).map(move |x| (x, y)))
        .filter(|&(x, y)| is(image.pixel(x, y).map(i32::from)))
        .collect()
}

fn blue([r, g, b]: [i32; 3]) -> bool {
    b > r + 100 && b > g + 40
}

#[test]
fn the_same_numbers_give_the_same_bytes() {
    let (x, y) = ([0.0, 1.0, 2.0], [3.0, 1.0, 2.0]);
    let plot = Plot::new("t").x_label("x").y_label("y").series("a", &x, &y).marker(1.0, "here");
    assert_eq!(plot.render(300, 200).unwrap(), plot.render(300, 200).unwrap());
}

#[test]
fn a_rising_line_rises_on_linear_and_logarithmic_scales() {
    let x: Vec<f32> = (0..50).map(|i| i as f32).collect();
    let y: Vec<f32> = x.iter().map(|x| (0.2 * x).exp()).collect();
    for plot in [Plot::new("").series("a", &x, &y), Plot::new("").series("a", &x, &y).log_y()] {
        let image = plot.image(300, 200).unwrap();
        // Below the legend, which has the same colour.
        let line: Vec<_> = count(&image, blue).into_iter().filter(|p| p.1 > 46).collect();
        let first = line.iter().min_by_key(|p| p.0).unwrap();
        let last = line.iter().max_by_key(|p| p.0).unwrap();
        assert!(last.1 + 80 < first.1, "from {first:?} to {last:?}");
    }
}

#[test]
fn bars_are_as_high_as_their_values() {
    let image = Plot::new("").bar("a", 1.0).bar("b", 2.0).image(300, 200).unwrap();
    let high = |is: &dyn Fn([i32; 3]) -> bool| {
        let bar = count(&image, is);
        bar.iter().map(|p| p.1).max().unwrap() as f32 - bar.iter().map(|p| p.1).min().unwrap() as f32
    };
    let ratio = high(&|[r, _, b]| r > b + 100) / high(&blue);
    assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
}

#[test]
fn a_constant_or_a_single_point_is_drawn() {
    for values in [&[5.0][..], &[5.0, 5.0], &[0.0, 0.0], &[-3.0, -3.0], &[1e-30, 2e-30], &[1e30, 1e30]] {
        let x: Vec<f32> = (0..values.len()).map(|i| i as f32).collect();
        let image = Plot::new("").series("", &x, values).image(200, 150).unwrap();
        assert!(count(&image, blue).iter().any(|p| p.1 > 46), "{values:?}");
    }
}

#[test]
fn rejects_charts_without_a_value() {
    assert!(matches!(Plot::new("none").render(300, 200), Err(RenderError::NothingToDraw { .. })));
    assert!(matches!(
        Plot::new("").series("a", &[], &[]).render(300, 200),
        Err(RenderError::NothingToDraw { .. })
    ));
}

#[test]
fn rejects_series_of_unequal_length() {
    let result = Plot::new("").series("a", &[1.0, 2.0], &[1.0]).render(300, 200);
    assert!(matches!(result, Err(RenderError::UnequalSeries { x: 2, y: 1, .. })));
}

#[test]
fn rejects_values_that_are_not_finite() {
    let result = Plot::new("").series("a", &[1.0, 2.0], &[1.0, f32::NAN]).render(300, 200);
    assert!(matches!(result, Err(RenderError::NotFinite { index: 1, .. })));
    assert!(matches!(
        Plot::new("").bar("a", f32::INFINITY).render(300, 200),
        Err(RenderError::NotFinite { .. })
    ));
}

#[test]
fn rejects_values_that_have_no_logarithm() {
    let result = Plot::new("").log_y().series("a", &[1.0], &[0.0]).render(300, 200);
    assert!(matches!(result, Err(RenderError::BadOption { option: "log_y", .. })));
}

#[test]
fn rejects_charts_without_a_usable_size() {
    for (width, height) in [(0, 200), (200, 20), (100_000, 200)] {
        assert!(matches!(
            Plot::new("").bar("a", 1.0).render(width, height),
            Err(RenderError::BadOption { .. })
        ));
    }
}
