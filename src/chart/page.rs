//! One HTML file with charts: light and dark, nothing from outside, no script. Pure; every text is escaped.

use super::Chart;
use super::layout::{self, COLOURS};
use super::svg::{self, escaped};
use std::fmt::Write as _;

/// Lines in the dark: the light ones' hues, lighter.
const DARK: [&str; 6] = ["#56a8e0", "#f08a4b", "#3fc79a", "#e6a1c7", "#f2c14e", "#8fd0f5"];

pub struct Page {
    pub title: String,
    /// Below the title.
    pub subtitle: String,
    pub parts: Vec<Part>,
}

pub enum Part {
    Heading(String),
    Note(String),
    /// What a number is called, and the number.
    Facts(Vec<(String, String)>),
    Charts(Vec<Chart>),
    /// Bars side by side: what each stands for, and how many.
    Bars {
        title: String,
        bars: Vec<(String, usize)>,
    },
    Table {
        head: Vec<String>,
        rows: Vec<Vec<String>>,
    },
}

impl Page {
    pub fn html(&self) -> String {
        let (title, subtitle) = (escaped(&self.title), escaped(&self.subtitle));
        let mut html = format!(
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" \
             content=\"width=device-width, initial-scale=1\">\n<meta name=\"color-scheme\" content=\"light dark\">\n\
             <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src \
             'unsafe-inline'\">\n<title>{title}</title>\n<style>\n{}</style>\n</head>\n<body>\n<main>\n\
             <header><h1>{title}</h1><p>{subtitle}</p></header>\n",
            style()
        );
        for part in &self.parts {
            part.html(&mut html);
        }
        html.push_str("</main>\n</body>\n</html>\n");
        html
    }
}

impl Part {
    fn html(&self, html: &mut String) {
        match self {
            Self::Heading(text) => write(html, format_args!("<h2>{}</h2>\n", escaped(text))),
            Self::Note(text) => write(html, format_args!("<p>{}</p>\n", escaped(text))),
            Self::Facts(facts) => {
                html.push_str("<dl class=\"facts\">\n");
                for (name, value) in facts {
                    let (name, value) = (escaped(name), escaped(value));
                    write(html, format_args!("<div><dt>{name}</dt><dd>{value}</dd></div>\n"));
                }
                html.push_str("</dl>\n");
            }
            Self::Charts(charts) => {
                html.push_str("<div class=\"charts\">\n");
                for chart in charts {
                    for number in 0..chart.panels.len() {
                        panel(chart, number, html);
                    }
                }
                html.push_str("</div>\n");
            }
            Self::Bars { title, bars } => bars_of(title, bars, html),
            Self::Table { head, rows } => {
                html.push_str("<div class=\"wide\"><table>\n<tr>");
                for name in head {
                    write(html, format_args!("<th scope=\"col\">{}</th>", escaped(name)));
                }
                html.push_str("</tr>\n");
                for row in rows {
                    html.push_str("<tr>");
                    for cell in row {
                        write(html, format_args!("<td>{}</td>", escaped(cell)));
                    }
                    html.push_str("</tr>\n");
                }
                html.push_str("</table></div>\n");
            }
        }
    }
}

fn panel(chart: &Chart, number: usize, html: &mut String) {
    let panel = &chart.panels[number];
    let title = escaped(&panel.title);
    write(html, format_args!("<figure><figcaption><b>{title}</b>"));
    for (line, series) in panel.series.iter().enumerate() {
        let (line, name) = (line % COLOURS.len(), escaped(&series.name));
        write(
            html,
            format_args!("<span><i style=\"background:var(--line{line})\"></i>{name}</span>"),
        );
    }
    html.push_str("</figcaption>\n");
    html.push_str(&svg::on_page(&layout::on_page(chart, number), &panel.title));
    html.push_str("</figure>\n");
}

fn bars_of(title: &str, bars: &[(String, usize)], html: &mut String) {
    let most = bars.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let title = escaped(title);
    write(
        html,
        format_args!("<figure class=\"bars\"><figcaption><b>{title}</b></figcaption><div>\n"),
    );
    for (name, count) in bars {
        // Room above for the count.
        let percent = count * 80 / most;
        let name = escaped(name);
        write(
            html,
            format_args!(
                "<p><span>{count}</span><i style=\"height:{percent}%\"></i><small>{name}</small></p>\n"
            ),
        );
    }
    html.push_str("</div></figure>\n");
}

/// Writing to a string cannot fail.
fn write(html: &mut String, text: std::fmt::Arguments<'_>) {
    html.write_fmt(text).unwrap_or_default();
}

fn style() -> String {
    let mut style = String::from(
        ":root{--ground:#fff;--card:#fafafa;--ink:#222;--dim:#5c5c5c;--grid:#ddd;--axis:#888;--edge:#e2e2e2",
    );
    for (line, layout::Colour(red, green, blue)) in COLOURS.iter().enumerate() {
        write(&mut style, format_args!(";--line{line}:#{red:02x}{green:02x}{blue:02x}"));
    }
    style.push_str(
        "}\n@media (prefers-color-scheme:dark){:root{--ground:#14161a;--card:#1b1e24;--ink:#e8e8e8;--dim:#a3a7ae;\
         --grid:#31353d;--axis:#6b7079;--edge:#2b2f37",
    );
    for (line, colour) in DARK.iter().enumerate() {
        write(&mut style, format_args!(";--line{line}:{colour}"));
    }
    style.push_str("}}\n");
    style.push_str(STYLE);
    style
}

const STYLE: &str = "\
body{margin:0;background:var(--ground);color:var(--ink);font:16px/1.5 system-ui,sans-serif}
main{max-width:1240px;margin:0 auto;padding:1.5rem 1rem 4rem}
h1{font-size:1.6rem;margin:0;overflow-wrap:anywhere}
header p{margin:.2rem 0 0;color:var(--dim);overflow-wrap:anywhere}
h2{font-size:1.15rem;margin:2.2rem 0 .6rem;overflow-wrap:anywhere}
p{margin:.4rem 0}
.facts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,9.5rem),1fr));gap:.6rem;margin:.8rem 0}
.facts div{background:var(--card);border:1px solid var(--edge);border-radius:.5rem;padding:.5rem .75rem}
.facts dt{color:var(--dim);font-size:.82rem}
.facts dd{margin:0;font-size:1.2rem;font-variant-numeric:tabular-nums;overflow-wrap:anywhere}
.charts{display:grid;grid-template-columns:repeat(auto-fill,minmax(min(100%,27rem),1fr));gap:1rem}
figure{margin:0;background:var(--card);border:1px solid var(--edge);border-radius:.5rem;padding:.75rem;min-width:0}
figure svg{display:block;width:100%;height:auto;font-family:ui-monospace,monospace}
figcaption{display:flex;flex-wrap:wrap;gap:.1rem 1rem;font-size:.9rem;margin-bottom:.4rem}
figcaption b{flex-basis:100%}
figcaption span{display:inline-flex;align-items:center;gap:.4rem;color:var(--dim);overflow-wrap:anywhere}
figcaption i{width:1.1rem;height:.22rem;border-radius:.1rem;flex:none}
.bars{margin-top:1rem}
.bars div{display:flex;align-items:flex-end;gap:2px;height:12rem}
.bars p{flex:1 1 0;min-width:0;margin:0;height:100%;display:flex;flex-direction:column;justify-content:flex-end;\
align-items:center;font-variant-numeric:tabular-nums}
.bars p i{width:100%;max-width:3rem;background:var(--line0);border-radius:.15rem .15rem 0 0;flex:none}
.bars span{font-size:.8rem}
.bars small{color:var(--dim);font-size:.7rem;white-space:nowrap}
.wide{overflow-x:auto}
table{border-collapse:collapse;font-size:.9rem;font-variant-numeric:tabular-nums}
th,td{text-align:left;padding:.3rem .9rem .3rem 0;border-bottom:1px solid var(--edge);white-space:nowrap}
th{color:var(--dim);font-weight:500}
";
