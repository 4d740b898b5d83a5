//! Charts of lines: a description, drawn as SVG or PNG by the same layout. Pure; the same description
//! gives the same bytes.

mod layout;
pub mod page;
mod png;
mod raster;
mod svg;
#[cfg(test)]
mod tests;

/// Panels one below the other over one horizontal axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    pub title: String,
    /// Below the title: what the lines are made of.
    pub subtitle: String,
    /// What the horizontal axis counts.
    pub across: String,
    pub panels: Vec<Panel>,
    /// What happened at a place of the horizontal axis.
    pub marks: Vec<Mark>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Mark {
    pub at: f64,
    pub name: String,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Panel {
    pub title: String,
    /// Least and largest value that is shown; what lies outside is drawn at the edge.
    pub range: (f64, f64),
    pub series: Vec<Series>,
}

/// One line. Points with a coordinate that is no finite number are left out.
#[derive(Clone, Debug, PartialEq)]
pub struct Series {
    pub name: String,
    /// Joined, in this order.
    pub line: Vec<(f64, f64)>,
    /// Faint behind the line.
    pub dots: Vec<(f64, f64)>,
}

impl Chart {
    pub fn svg(&self) -> String {
        svg::of(&layout::of(self))
    }

    /// 1200 pixels wide, on white.
    pub fn png(&self) -> Vec<u8> {
        png::of(&layout::of(self))
    }
}
