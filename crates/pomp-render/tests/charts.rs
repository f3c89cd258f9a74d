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
    assert_eq!(plot.png(300, 200).unwrap(), plot.png(300, 200).unwrap());
}

#[test]
fn a_rising_line_rises_on_linear_and_logarithmic_scales() {
    let x: Vec<f32> = (0..50).map(|i| i as f32).collect();
    let y: Vec<f32> = x.iter().map(|x| (0.2 * x).exp()).collect();
    for plot in [Plot::new("").series("a", &x, &y), Plot::new("").series("a", &x, &y).log_y()] {
        let image = plot.image(300, 200).unwrap();
        // Below the legend, which has the same colour.
        let line: Vec<_> = count(&image, blue).into_iter().filter(|p| p.1 > 54).collect();
        let first = line.iter().min_by_key(|p| p.0).unwrap();
        let last = line.iter().max_by_key(|p| p.0).unwrap();
        assert!(last.1 + 80 < first.1, "from {first:?} to {last:?}");
    }
}

#[test]
fn bars_are_as_long_as_their_values() {
    let plot = Plot::new("").bar_of("one", "a", 1.0, None).bar_of("two", "a", 2.0, None);
    let image = plot.image(400, 200).unwrap();
    let long = |is: &dyn Fn([i32; 3]) -> bool| {
        // Below the legend, which has the same colours.
        let bar: Vec<_> = count(&image, is).into_iter().filter(|p| p.1 > 60).collect();
        bar.iter().map(|p| p.0).max().unwrap() as f32 - bar.iter().map(|p| p.0).min().unwrap() as f32
    };
    let ratio = long(&|[r, _, b]| r > b + 100) / long(&blue);
    assert!((ratio - 2.0).abs() < 0.05, "{ratio}");
}

#[test]
fn decades_of_a_logarithmic_x_are_equally_wide() {
    let svg = Plot::new("").series("a", &[1.0, 10.0, 100.0], &[1.0, 2.0, 3.0]).log_x().svg(400, 200).unwrap();
    // The series is the line with three points.
    let points = svg.lines().filter_map(|line| line.split("points=\"").nth(1));
    let mut points = points.map(|rest| rest.split('"').next().unwrap().trim().split(' ').collect::<Vec<_>>());
    let line = points.find(|points| points.len() == 3).unwrap();
    let x: Vec<f32> = line.iter().map(|point| point.split(',').next().unwrap().parse().unwrap()).collect();
    let ratio = (x[2] - x[1]) / (x[1] - x[0]);
    assert!(x[1] > x[0] && (ratio - 1.0).abs() < 0.02, "{x:?}");
}

#[test]
fn stacked_bars_begin_where_the_one_before_ends() {
    let plot = Plot::new("").bar_of("one", "a", 1.0, None).bar_of("two", "a", 3.0, None);
    let ends = |plot: Plot, is: &dyn Fn([i32; 3]) -> bool| {
        let image = plot.image(400, 200).unwrap();
        // Below the legend, which has the same colours.
        let bar: Vec<u32> = count(&image, is).into_iter().filter(|p| p.1 > 60).map(|p| p.0).collect();
        [*bar.iter().min().unwrap(), *bar.iter().max().unwrap()].map(|x| x as f32)
    };
    let orange = |[r, _, b]: [i32; 3]| r > b + 100;
    let (first, second) = (ends(plot.clone().stacked(), &blue), ends(plot.clone().stacked(), &orange));
    assert!((second[0] - first[1]).abs() <= 2.0, "{first:?}, {second:?}");
    let ratio = (second[1] - second[0]) / (first[1] - first[0]);
    assert!((ratio - 3.0).abs() < 0.1, "{ratio}");
    // The control: beside each other both begin at 0.
    assert!((ends(plot.clone(), &orange)[0] - ends(plot, &blue)[0]).abs() <= 2.0);
}

#[test]
fn rejects_what_a_logarithmic_x_and_a_stack_have_no_place_for() {
    let refused = |plot: Plot| match plot.svg(400, 200) {
        Err(RenderError::BadOption { option, .. }) => option,
        other => panic!("{other:?}"),
    };
    assert_eq!(refused(Plot::new("").series("a", &[0.0, 1.0], &[1.0, 1.0]).log_x()), "log_x");
    let interval = Plot::new("").series_with_intervals("a", &[(1.0, 1.0, Some([0.5, 2.0]))]).log_x();
    assert_eq!(refused(interval), "log_x");
    assert_eq!(refused(Plot::new("").bar("a", -1.0).stacked()), "stacked");
    assert_eq!(refused(Plot::new("").bar("a", 1.0).log_x()), "bar");
}

#[test]
fn the_interval_of_a_bar_reaches_from_end_to_end() {
    // The first dark line is the whisker without its caps; its points are "x,y x,y ".
    let ends = |interval| -> [f32; 2] {
        let svg = Plot::new("").bar_of("", "a", 10.0, Some(interval)).svg(500, 160).unwrap();
        let whisker = svg.lines().find(|line| line.contains("polyline") && line.contains("#262E3A")).unwrap();
        let points = whisker.split("points=\"").nth(1).unwrap();
        let mut x = points.split(' ').take(2).map(|point| point.split(',').next().unwrap().parse().unwrap());
        [x.next().unwrap(), x.next().unwrap()]
    };
    let (narrow, wide) = (ends([8.0, 10.0]), ends([2.0, 10.0]));
    assert_eq!(narrow[1], wide[1]);
    let ratio = (wide[1] - wide[0]) / (narrow[1] - narrow[0]);
    assert!((ratio - 4.0).abs() < 0.02, "{ratio}");
}

#[test]
fn names_are_escaped_in_svg() {
    let name = "<script>alert(\"a & b\")</script>";
    let svg = Plot::new(name).series(name, &[0.0, 1.0], &[0.0, 1.0]).marker(0.5, name).svg(300, 200).unwrap();
    assert!(svg.starts_with("<svg width=\"300\" height=\"200\""), "{}", &svg[..80]);
    assert!(!svg.contains("<script>"), "a name is no element");
    assert_eq!(svg.matches("&lt;script&gt;alert(&quot;a &amp; b&quot;)&lt;/script&gt;").count(), 3, "{svg}");
}

#[test]
fn every_tick_of_a_logarithmic_axis_is_a_power_of_ten() {
    let svg = Plot::new("").series("", &[0.0, 1.0, 2.0], &[0.001, 0.5, 20.0]).log_y().svg(500, 400).unwrap();
    for tick in ["0.001", "0.01", "0.1", "1", "10", "100"] {
        assert!(svg.contains(&format!(">\n{tick}\n<")), "{tick} is missing in {svg}");
    }
}

#[test]
fn a_constant_or_a_single_point_is_drawn() {
    for values in [&[5.0][..], &[5.0, 5.0], &[0.0, 0.0], &[-3.0, -3.0], &[1e-30, 2e-30], &[1e30, 1e30]] {
        let x: Vec<f32> = (0..values.len()).map(|i| i as f32).collect();
        let image = Plot::new("").series("", &x, values).image(200, 150).unwrap();
        assert!(count(&image, blue).iter().any(|p| p.1 > 54), "{values:?}");
    }
}

#[test]
fn rejects_charts_without_a_value() {
    assert!(matches!(Plot::new("none").png(300, 200), Err(RenderError::NothingToDraw { .. })));
    assert!(matches!(
        Plot::new("").series::<f32>("a", &[], &[]).png(300, 200),
        Err(RenderError::NothingToDraw { .. })
    ));
}

#[test]
fn rejects_series_of_unequal_length() {
    let result = Plot::new("").series("a", &[1.0, 2.0], &[1.0]).png(300, 200);
    assert!(matches!(result, Err(RenderError::UnequalSeries { x: 2, y: 1, .. })));
}

#[test]
fn rejects_values_that_are_not_finite() {
    let result = Plot::new("").series("a", &[1.0, 2.0], &[1.0, f32::NAN]).png(300, 200);
    assert!(matches!(result, Err(RenderError::NotFinite { index: 1, .. })));
    assert!(matches!(
        Plot::new("").bar("a", f32::INFINITY).png(300, 200),
        Err(RenderError::NotFinite { .. })
    ));
}

#[test]
fn rejects_values_that_have_no_logarithm() {
    let result = Plot::new("").log_y().series("a", &[1.0], &[0.0]).png(300, 200);
    assert!(matches!(result, Err(RenderError::BadOption { option: "log_y", .. })));
}

#[test]
fn rejects_charts_without_a_usable_size() {
    for (width, height) in [(0, 200), (200, 20), (100_000, 200)] {
        assert!(matches!(Plot::new("").bar("a", 1.0).png(width, height), Err(RenderError::BadOption { .. })));
    }
}

#[test]
fn rejects_bars_beside_series() {
    let result = Plot::new("").bar("a", 1.0).series("b", &[0.0], &[1.0]).png(300, 200);
    assert!(matches!(result, Err(RenderError::BadOption { option: "bar", .. })));
}

#[test]
fn rejects_intervals_that_are_not_finite() {
    let result = Plot::new("").bar_of("", "a", 1.0, Some([0.0, f64::NAN])).png(300, 200);
    assert!(matches!(result, Err(RenderError::NotFinite { .. })));
    let result =
        Plot::new("").series_with_intervals("a", &[(0.0, 1.0, Some([f64::INFINITY, 1.0]))]).png(300, 200);
    assert!(matches!(result, Err(RenderError::NotFinite { index: 0, .. })));
}
