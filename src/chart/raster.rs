//! A scene as pixels: lines and dots by their distance to a pixel's centre, text from a font of ready
//! bitmaps (Noto Sans Mono).
#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "pixels are small numbers"
)]

use super::layout::{Anchor, Colour, FAINT, Scene, Shape, Text};
use noto_sans_mono_bitmap::{FontWeight, RasterHeight, get_raster, get_raster_width};

/// Of all text but the title.
const SIZE: RasterHeight = RasterHeight::Size20;
/// Pixels from one letter of it to the next.
pub(super) const LETTER: usize = get_raster_width(FontWeight::Regular, SIZE);

/// Rows from the top, three bytes a pixel.
pub(super) struct Image {
    pub(super) width: usize,
    pub(super) height: usize,
    pub(super) pixels: Vec<u8>,
}

/// How much of each pixel a shape covers, so that one that crosses itself is not drawn twice.
struct Mask {
    width: usize,
    height: usize,
    covered: Vec<u8>,
}

pub(super) fn of(scene: &Scene) -> Image {
    let (width, height) = (scene.width as usize, scene.height as usize);
    let mut image = Image { width, height, pixels: vec![0xff; width * height * 3] };
    for shape in &scene.shapes {
        match shape {
            Shape::Line { points, width, colour } => {
                let mut mask = Mask::new(&image);
                for pair in points.windows(2) {
                    mask.segment(pair[0], pair[1], width / 2.0);
                }
                image.paint(&mask, *colour);
            }
            Shape::Dots { centres, radius, colour } => {
                for centre in centres {
                    image.dot(*centre, *radius, *colour);
                }
            }
            Shape::Text(text) => image.text(text),
        }
    }
    image
}

impl Mask {
    fn new(image: &Image) -> Self {
        let Image { width, height, .. } = *image;
        Self { width, height, covered: vec![0; width * height] }
    }

    fn segment(&mut self, from: (f64, f64), to: (f64, f64), half: f64) {
        let xs = span(from.0.min(to.0) - half, from.0.max(to.0) + half, self.width);
        for row in span(from.1.min(to.1) - half, from.1.max(to.1) + half, self.height) {
            for column in xs.clone() {
                let distance = distance(centre(column, row), from, to);
                let covered = (half + 0.5 - distance).clamp(0.0, 1.0) * 255.0;
                let there = &mut self.covered[row * self.width + column];
                *there = (*there).max(covered as u8);
            }
        }
    }
}

impl Image {
    fn paint(&mut self, mask: &Mask, colour: Colour) {
        for (pixel, covered) in self.pixels.as_chunks_mut::<3>().0.iter_mut().zip(&mask.covered) {
            if *covered > 0 {
                blend(pixel, colour, f64::from(*covered) / 255.0);
            }
        }
    }

    fn dot(&mut self, at: (f64, f64), radius: f64, colour: Colour) {
        let columns = span(at.0 - radius, at.0 + radius, self.width);
        for row in span(at.1 - radius, at.1 + radius, self.height) {
            for column in columns.clone() {
                let covered = radius + 0.5 - distance(centre(column, row), at, at);
                self.blend(column, row, colour, covered.clamp(0.0, 1.0) * FAINT);
            }
        }
    }

    fn text(&mut self, text: &Text) {
        let (weight, size) = if text.title {
            (FontWeight::Bold, RasterHeight::Size24)
        } else {
            (FontWeight::Regular, SIZE)
        };
        let step = get_raster_width(weight, size);
        // The base line of a letter is about four fifths down.
        let top = text.at.1 as usize - (size.val() * 4 / 5).min(text.at.1 as usize);
        let long = text.words.chars().count() as f64 * step as f64;
        let left = match text.anchor {
            Anchor::Start => text.at.0,
            Anchor::Middle => text.at.0 - long / 2.0,
            Anchor::End => text.at.0 - long,
        };
        let mut column = left.clamp(0.0, self.width as f64).round() as usize;
        for letter in text.words.chars() {
            let known = get_raster(letter, weight, size).or_else(|| get_raster('?', weight, size));
            for (down, row) in known.iter().flat_map(|known| known.rows().enumerate()) {
                for (right, covered) in row.iter().enumerate() {
                    let covered = f64::from(*covered) / 255.0;
                    self.blend(column + right, top + down, text.colour, covered);
                }
            }
            column += step;
        }
    }

    fn blend(&mut self, column: usize, row: usize, colour: Colour, covered: f64) {
        if column >= self.width || row >= self.height || covered <= 0.0 {
            return;
        }
        let at = row * self.width + column;
        if let Some(pixel) = self.pixels.as_chunks_mut::<3>().0.get_mut(at) {
            blend(pixel, colour, covered);
        }
    }
}

fn blend(pixel: &mut [u8; 3], Colour(red, green, blue): Colour, covered: f64) {
    for (there, over) in pixel.iter_mut().zip([red, green, blue]) {
        let mixed = f64::from(*there) * (1.0 - covered) + f64::from(over) * covered;
        *there = mixed.round() as u8;
    }
}

fn centre(column: usize, row: usize) -> (f64, f64) {
    (column as f64 + 0.5, row as f64 + 0.5)
}

/// Pixels of a row or column that a range may touch.
fn span(low: f64, high: f64, size: usize) -> std::ops::Range<usize> {
    let low = (low - 1.0).max(0.0) as usize;
    let high = (high + 2.0).max(0.0) as usize;
    low.min(size)..high.min(size)
}

/// From a point to a segment.
fn distance(point: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (px, py) = (point.0 - from.0, point.1 - from.1);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    (px - along * dx).hypot(py - along * dy)
}
