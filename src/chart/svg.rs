//! A scene as SVG.

use super::layout::{self, Anchor, Colour, FAINT, GREY, GRID, INK, Scene, Shape, Text};
use std::fmt::Write as _;

/// At which a monospaced letter is about as wide as in the PNG.
const SIZE: u32 = 15;

/// On white, in colours of its own.
pub(super) fn of(scene: &Scene) -> String {
    let Scene { width, height, .. } = scene;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" \
         font-family=\"monospace\" font-size=\"{SIZE}\">\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#ffffff\"/>\n"
    );
    shapes(scene, &mut svg, hex);
    svg.push_str("</svg>\n");
    svg
}

/// Without a ground, in colours that the page around it defines for each scheme.
pub(super) fn on_page(scene: &Scene, label: &str) -> String {
    let Scene { width, height, .. } = scene;
    let label = escaped(label);
    let mut svg = format!(
        "<svg viewBox=\"0 0 {width} {height}\" role=\"img\" aria-label=\"{label}\" font-size=\"{SIZE}\">\n"
    );
    shapes(scene, &mut svg, variable);
    svg.push_str("</svg>\n");
    svg
}

fn shapes(scene: &Scene, svg: &mut String, paint: fn(Colour) -> String) {
    for shape in &scene.shapes {
        match shape {
            Shape::Line { points, width, colour } => {
                let points: Vec<String> =
                    points.iter().map(|(x, y)| format!("{x:.1},{y:.1}")).collect();
                writeln!(
                    svg,
                    "<polyline points=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"{width}\" \
                     stroke-linejoin=\"round\"/>",
                    points.join(" "),
                    paint(*colour),
                )
            }
            Shape::Dots { centres, radius, colour } => {
                let fill = paint(*colour);
                let mut written = writeln!(svg, "<g fill=\"{fill}\" fill-opacity=\"{FAINT}\">");
                for (x, y) in centres {
                    written = written.and_then(|()| {
                        writeln!(svg, "<circle cx=\"{x:.1}\" cy=\"{y:.1}\" r=\"{radius}\"/>")
                    });
                }
                written.and_then(|()| writeln!(svg, "</g>"))
            }
            Shape::Text(text) => writeln!(svg, "{}", of_text(text, paint)),
        }
        // Writing to a string cannot fail.
        .unwrap_or_default();
    }
}

/// A colour's name in the page's style.
fn variable(colour: Colour) -> String {
    if let Some(line) = layout::line_of(colour) {
        return format!("var(--line{line})");
    }
    let name = match colour {
        INK => "ink",
        GREY => "dim",
        GRID => "grid",
        _ => "axis",
    };
    format!("var(--{name})")
}

fn of_text(
    Text { at: (x, y), anchor, words, title, colour }: &Text,
    paint: fn(Colour) -> String,
) -> String {
    let anchor = match anchor {
        Anchor::Start => "start",
        Anchor::Middle => "middle",
        Anchor::End => "end",
    };
    let large = if *title { " font-size=\"22\" font-weight=\"bold\"" } else { "" };
    format!(
        "<text x=\"{x:.1}\" y=\"{y:.1}\" text-anchor=\"{anchor}\" fill=\"{}\"{large}>{}</text>",
        paint(*colour),
        escaped(words),
    )
}

fn hex(Colour(red, green, blue): Colour) -> String {
    format!("#{red:02x}{green:02x}{blue:02x}")
}

/// Characters that XML has no place for are left out.
pub(super) fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            letter if letter.is_control() => {}
            letter => escaped.push(letter),
        }
    }
    escaped
}
