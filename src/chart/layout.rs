//! Where everything of a chart stands, in pixels.
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "pixels are small numbers"
)]

use super::raster::LETTER;
use super::{Chart, Mark, Panel, Series};

/// How wide everything is, and how high a plot.
#[derive(Clone, Copy)]
struct Frame {
    left: f64,
    right: f64,
    plot: f64,
}

const PICTURE: Frame = Frame { left: 90.0, right: 1170.0, plot: PLOT };
const WIDTH: f64 = 1200.0;
/// A panel on a page: its letters are to be read on a telephone, too.
const ON_PAGE: Frame = Frame { left: 50.0, right: 540.0, plot: 210.0 };
const PAGE_WIDTH: f64 = 560.0;
/// Room above a page's plot for the names of its marks.
const PAGE_TOP: f64 = 24.0;
/// Title and subtitle.
const TOP: f64 = 84.0;
/// Of a panel: its title and legend, its plot, the room below.
const HEAD: f64 = 40.0;
const PLOT: f64 = 250.0;
const BELOW: f64 = 36.0;
/// The horizontal axis' numbers and name.
const BOTTOM: f64 = 64.0;
/// Steps between marks, at most.
const MARKS: f64 = 8.0;

/// Okabe and Ito's, which are told apart with any colour vision; the first ones differ in lightness, too.
pub(super) const COLOURS: [Colour; 6] = [
    Colour(0x00, 0x72, 0xb2),
    Colour(0xd5, 0x5e, 0x00),
    Colour(0x00, 0x9e, 0x73),
    Colour(0xcc, 0x79, 0xa7),
    Colour(0xe6, 0x9f, 0x00),
    Colour(0x56, 0xb4, 0xe9),
];
pub(super) const INK: Colour = Colour(0x22, 0x22, 0x22);
pub(super) const GREY: Colour = Colour(0x66, 0x66, 0x66);
pub(super) const GRID: Colour = Colour(0xdd, 0xdd, 0xdd);
const AXIS: Colour = Colour(0x88, 0x88, 0x88);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Colour(pub(super) u8, pub(super) u8, pub(super) u8);

/// A chart in shapes, those behind first.
pub(super) struct Scene {
    pub(super) width: f64,
    pub(super) height: f64,
    pub(super) shapes: Vec<Shape>,
    frame: Frame,
}

pub(super) enum Shape {
    Line {
        points: Vec<(f64, f64)>,
        width: f64,
        colour: Colour,
    },
    /// All in one colour, which shines through.
    Dots {
        centres: Vec<(f64, f64)>,
        radius: f64,
        colour: Colour,
    },
    Text(Text),
}

pub(super) struct Text {
    /// Where it starts, is centred or ends, and its base line.
    pub(super) at: (f64, f64),
    pub(super) anchor: Anchor,
    pub(super) words: String,
    pub(super) title: bool,
    pub(super) colour: Colour,
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Anchor {
    Start,
    Middle,
    End,
}

/// How dots shine through.
pub(super) const FAINT: f64 = 0.35;
pub(super) fn of(chart: &Chart) -> Scene {
    let panels = u32::try_from(chart.panels.len()).map_or(0.0, f64::from);
    let height = TOP + panels * (HEAD + PLOT + BELOW) + BOTTOM - BELOW;
    let mut scene = Scene { width: WIDTH, height, shapes: Vec::new(), frame: PICTURE };
    let Frame { left, right, .. } = PICTURE;
    scene.shapes.push(text((left, 38.0), Anchor::Start, &chart.title, INK, true));
    scene.shapes.push(text((left, 64.0), Anchor::Start, &chart.subtitle, GREY, false));
    let across = extent(chart);
    let (mut top, mut number) = (TOP, 0);
    for panel in &chart.panels {
        let head = (left, top + HEAD - 14.0);
        scene.shapes.push(text(head, Anchor::Start, &panel.title, INK, false));
        scene.legend(&panel.series, head.1, number);
        scene.panel(panel, (across, &chart.marks), top + HEAD, number);
        number += panel.series.len();
        top += HEAD + PLOT + BELOW;
    }
    let middle = f64::midpoint(left, right);
    let named = (middle, height - 14.0);
    scene.shapes.push(text(named, Anchor::Middle, &chart.across, INK, false));
    scene
}

/// One panel without its title and legend, which the page around it has.
pub(super) fn on_page(chart: &Chart, panel: usize) -> Scene {
    let height = PAGE_TOP + ON_PAGE.plot + BELOW + 22.0;
    let mut scene = Scene { width: PAGE_WIDTH, height, shapes: Vec::new(), frame: ON_PAGE };
    if let Some(panel) = chart.panels.get(panel) {
        scene.panel(panel, (extent(chart), &chart.marks), PAGE_TOP, 0);
    }
    let middle = f64::midpoint(ON_PAGE.left, ON_PAGE.right);
    scene.shapes.push(text((middle, height - 6.0), Anchor::Middle, &chart.across, GREY, false));
    scene
}

impl Scene {
    /// `number`: the first series' colour.
    fn panel(
        &mut self,
        panel: &Panel,
        (across, events): ((f64, f64), &[Mark]),
        top: f64,
        number: usize,
    ) {
        let (low, high) = panel.range;
        let Frame { left, right, plot } = self.frame;
        let x = |value: f64| left + share(value, across) * (right - left);
        let y = |value: f64| top + plot - share(value, (low, high)).clamp(0.0, 1.0) * plot;
        for (value, label) in marks((low, high), false) {
            let colour = if value == 0.0 { AXIS } else { GRID };
            self.line(vec![(left, y(value)), (right, y(value))], 1.0, colour);
            let at = (left - 10.0, y(value) + 5.0);
            self.shapes.push(text(at, Anchor::End, &label, GREY, false));
        }
        for (value, label) in marks(across, true) {
            self.line(vec![(x(value), top + plot), (x(value), top + plot + 6.0)], 1.0, AXIS);
            let at = (x(value), top + plot + 24.0);
            self.shapes.push(text(at, Anchor::Middle, &label, GREY, false));
        }
        self.line(vec![(left, top), (left, top + plot), (right, top + plot)], 1.0, AXIS);
        let mut free = left;
        for Mark { at, name } in events {
            if !at.is_finite() || *at < across.0 || *at > across.1 {
                continue;
            }
            self.line(vec![(x(*at), top), (x(*at), top + plot)], 1.0, AXIS);
            let middle = x(*at).min(right - width(name) / 2.0);
            // Names that would stand over each other are left out; the lines tell where they were.
            if middle - width(name) / 2.0 >= free {
                self.shapes.push(text((middle, top - 6.0), Anchor::Middle, name, GREY, false));
                free = middle + width(name) / 2.0 + 8.0;
            }
        }
        let place = |points: &[(f64, f64)]| -> Vec<(f64, f64)> {
            finite(points).map(|(across, value)| (x(across), y(value))).collect()
        };
        let colours = COLOURS.iter().cycle().skip(number);
        for (series, colour) in panel.series.iter().zip(colours.clone()) {
            let (centres, radius) = (place(&series.dots), 3.0);
            self.shapes.push(Shape::Dots { centres, radius, colour: *colour });
        }
        for (series, colour) in panel.series.iter().zip(colours) {
            let points = place(&series.line);
            if let [only] = points[..] {
                let shape = Shape::Dots { centres: vec![only; 3], radius: 5.0, colour: *colour };
                self.shapes.push(shape);
            }
            self.line(points, 3.0, *colour);
        }
        if panel.series.iter().all(|series| finite(&series.line).next().is_none()) {
            let at = (f64::midpoint(left, right), top + plot / 2.0);
            self.shapes.push(text(at, Anchor::Middle, "nothing yet", GREY, false));
        }
    }

    /// From the right, the last series' name first.
    fn legend(&mut self, series: &[Series], base: f64, number: usize) {
        let mut right = self.frame.right;
        for (at, series) in series.iter().enumerate().rev() {
            let colour = COLOURS[(number + at) % COLOURS.len()];
            self.shapes.push(text((right, base), Anchor::End, &series.name, INK, false));
            right -= width(&series.name) + 8.0;
            self.line(vec![(right - 28.0, base - 5.0), (right, base - 5.0)], 3.0, colour);
            right -= 28.0 + 26.0;
        }
    }

    fn line(&mut self, points: Vec<(f64, f64)>, width: f64, colour: Colour) {
        if points.len() > 1 {
            self.shapes.push(Shape::Line { points, width, colour });
        }
    }
}

/// Which of the lines' colours it is.
pub(super) fn line_of(colour: Colour) -> Option<usize> {
    COLOURS.iter().position(|line| *line == colour)
}

fn text(at: (f64, f64), anchor: Anchor, text: &str, colour: Colour, title: bool) -> Shape {
    Shape::Text(Text { at, anchor, words: text.to_owned(), title, colour })
}

fn width(text: &str) -> f64 {
    u32::try_from(text.chars().count()).map_or(0.0, f64::from) * LETTER as f64
}

fn finite(points: &[(f64, f64)]) -> impl Iterator<Item = (f64, f64)> {
    points.iter().copied().filter(|(x, y)| x.is_finite() && y.is_finite())
}

/// What the horizontal axis shows: all points, and at least one step.
fn extent(chart: &Chart) -> (f64, f64) {
    let series = chart.panels.iter().flat_map(|panel| &panel.series);
    let points = series.flat_map(|series| finite(&series.line).chain(finite(&series.dots)));
    let (low, high) = points
        .fold((f64::INFINITY, f64::NEG_INFINITY), |(low, high), (x, _)| (low.min(x), high.max(x)));
    if low < high {
        (low, high)
    } else if low.is_finite() {
        (low - 1.0, low + 1.0)
    } else {
        (0.0, 1.0)
    }
}

fn share(value: f64, (low, high): (f64, f64)) -> f64 {
    if high > low { (value - low) / (high - low) } else { 0.5 }
}

/// Round numbers within a range, with what is written at each.
fn marks((low, high): (f64, f64), whole: bool) -> Vec<(f64, String)> {
    let span = high - low;
    if !(span.is_finite() && span > 0.0) {
        return Vec::new();
    }
    let mut power = 10_f64.powf((span / MARKS).log10().floor());
    if whole {
        power = power.max(1.0);
    }
    let steps = [1.0, 2.0, 5.0, 10.0].map(|step| step * power);
    let step = steps.into_iter().find(|step| span / step <= MARKS).unwrap_or(steps[3]);
    let digits = if step >= 1.0 { 0 } else { (-step.log10().floor()).clamp(0.0, 9.0) as usize };
    let first = (low / step).ceil();
    let count = (span / step).floor() as u32;
    (0..=count)
        .map(|at| (first + f64::from(at)) * step)
        .filter(|value| value.is_finite() && *value <= high + step * 1e-9)
        .map(|value| if value.abs() < step * 1e-9 { 0.0 } else { value })
        .map(|value| (value, format!("{value:.digits$}")))
        .collect()
}
