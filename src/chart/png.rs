//! A scene as a PNG file.

use super::layout::Scene;
use super::raster::{self, Image};

pub(super) fn of(scene: &Scene) -> Vec<u8> {
    let image = raster::of(scene);
    let mut file = Vec::new();
    // Memory takes everything, and the sizes are what the pixels say.
    encode(&image, &mut file).unwrap_or_default();
    file
}

fn encode(Image { width, height, pixels }: &Image, file: &mut Vec<u8>) -> Option<()> {
    let (width, height) = (u32::try_from(*width).ok()?, u32::try_from(*height).ok()?);
    let mut encoder = png::Encoder::new(file, width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_depth(png::BitDepth::Eight);
    let mut writer = encoder.write_header().ok()?;
    writer.write_image_data(pixels).ok()?;
    writer.finish().ok()
}
