//! What is drawn, and where.

use super::{Chart, Panel, Series};

fn chart(series: Vec<Series>) -> Chart {
    let panels = vec![Panel { title: "Reward".to_owned(), range: (-1.0, 1.0), series }];
    Chart {
        title: "A run".to_owned(),
        subtitle: "each round".to_owned(),
        across: "round".to_owned(),
        panels,
        marks: Vec::new(),
    }
}

fn line(name: &str, line: &[(f64, f64)]) -> Series {
    Series { name: name.to_owned(), line: line.to_vec(), dots: line.to_vec() }
}

/// Size and pixels of a PNG.
fn pixels(file: &[u8]) -> (usize, usize, Vec<u8>) {
    let mut reader = png::Decoder::new(std::io::Cursor::new(file)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    (info.width as usize, info.height as usize, pixels)
}

#[track_caller]
fn colour_at(chart: &Chart, column: usize, row: usize, expect: [u8; 3]) {
    let (width, _, pixels) = pixels(&chart.png());
    let at = (row * width + column) * 3;
    assert_eq!(pixels[at..at + 3], expect, "{column}, {row}");
}

#[test]
fn a_line_is_drawn_where_its_values_are_in_a_colour_of_its_own() {
    // The plot is 90..1170 wide and 124..374 high.
    let chart = chart(vec![
        line("low", &[(0.0, -0.5), (10.0, -0.5)]),
        line("high", &[(0.0, 0.5), (10.0, 0.5)]),
    ]);
    colour_at(&chart, 600, 311, [0x00, 0x72, 0xb2]);
    colour_at(&chart, 600, 186, [0xd5, 0x5e, 0x00]);
    colour_at(&chart, 600, 274, [0xff; 3]);
    let svg = chart.svg();
    assert!(
        svg.contains("points=\"90.0,311.5 1170.0,311.5\" fill=\"none\" stroke=\"#0072b2\""),
        "{svg}"
    );
}

#[test]
fn the_same_chart_is_the_same_bytes() {
    let chart = chart(vec![line("a", &[(1.0, 0.1), (2.0, -0.7), (3.0, 0.9)])]);
    assert_eq!(chart.png(), chart.png());
    assert_eq!(chart.svg(), chart.svg());
}

#[test]
fn every_series_is_named_and_a_panel_without_a_point_says_so() {
    let svg = chart(vec![line("solver", &[])]).svg();
    for text in [">A run<", ">Reward<", ">solver<", ">round<", ">nothing yet<"] {
        assert!(svg.contains(text), "{text}: {svg}");
    }
    assert!(!chart(vec![line("solver", &[(1.0, 0.0)])]).svg().contains("nothing yet"));
}

#[test]
fn odd_values_are_left_out_or_drawn_at_the_edge() {
    let points =
        [(f64::NAN, 0.0), (1.0, f64::INFINITY), (2.0, 1e300), (3.0, -1e300), (f64::MAX, 0.0)];
    let (width, height, pixels) = pixels(&chart(vec![line("odd", &points)]).png());
    assert_eq!(pixels.len(), width * height * 3);
    let svg = chart(vec![line("odd", &points)]).svg();
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
}

#[test]
fn names_cannot_break_out_of_the_svg() {
    let svg = chart(vec![line("<a href=\"x\">&\u{1}", &[(1.0, 0.0)])]).svg();
    assert!(svg.contains(">&lt;a href=&quot;x&quot;&gt;&amp;<"), "{svg}");
}

#[test]
fn marks_are_round_numbers_and_rounds_are_whole_ones() {
    let svg = chart(vec![line("a", &[(1.0, 0.0), (3.0, 0.0)])]).svg();
    for mark in [">-1.0<", ">-0.5<", ">0.0<", ">0.5<", ">1.0<", ">1<", ">2<", ">3<"] {
        assert!(svg.contains(mark), "{mark}: {svg}");
    }
    assert!(!svg.contains(">1.5<"));
}
