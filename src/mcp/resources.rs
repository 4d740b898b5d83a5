//! Resources: what is kept of the working directory's repository, by address.

use crate::artifact::Part;
use crate::session::{Document, Error, Repository, Session};
use rmcp::model::{ReadResourceResult, Resource, ResourceContents, ResourceTemplate};

const SCHEME: &str = "ssr-mcp://";
/// Artifacts that are listed and completed.
const LISTED: u32 = 50;
/// Runs that are.
const RUNS: u32 = 10;
const JSON: &str = "application/json";
const PNG: &str = "image/png";
const STRATEGIES: [&str; 4] = ["direct", "removal", "history", "mixed"];
const PARTS: [Part; 5] =
    [Part::BugInject, Part::TestWeaken, Part::TestScript, Part::TestParser, Part::TestFiles];

/// Addresses with places to fill in, and what is there.
const TEMPLATES: [(&str, &str, &str, &str); 5] = [
    ("artifact/{id}", "artifact", "An artifact: its five parts as one JSON object", JSON),
    (
        "artifact/{id}/{part}",
        "artifact_part",
        "One part of an artifact: bug_inject.diff, test_weaken.diff, test_script.sh, test_parser.py or \
         test_files.txt",
        "text/plain",
    ),
    ("report/{id}", "report", "What the checks said of an artifact", JSON),
    ("job/{id}", "job", "A job with its whole answer", JSON),
    (
        "curve/{run}",
        "curve",
        "A run's rounds as a chart: rewards of both roles, share of solved attempts and of valid bugs",
        PNG,
    ),
];

pub(super) fn list(session: &Session) -> Result<Vec<Resource>, Error> {
    let rounds = Resource::new(format!("{SCHEME}rounds.csv"), "rounds.csv")
        .with_title("Rounds")
        .with_description("Every round of this repository with its rewards")
        .with_mime_type("text/csv");
    let artifacts = session.artifacts(&Repository::default(), LISTED)?;
    let artifacts = artifacts.into_iter().map(|kept| {
        let valid = if kept.valid { "valid" } else { "not valid" };
        Resource::new(
            format!("{SCHEME}artifact/{}", kept.id),
            format!("artifact {}", &kept.id[..12]),
        )
        .with_description(format!("A bug artifact ({}, {valid})", kept.strategy))
        .with_mime_type(JSON)
    });
    let curves = session.runs(&Repository::default(), RUNS)?.into_iter().map(|run| {
        Resource::new(format!("{SCHEME}curve/{}", run.id), format!("curve {}", run.id))
            .with_title("Curve of a run")
            .with_description(format!("Rewards and rates of {} rounds as a chart", run.played))
            .with_mime_type(PNG)
    });
    Ok([rounds].into_iter().chain(curves).chain(artifacts).collect())
}

pub(super) fn templates() -> Vec<ResourceTemplate> {
    let template = |(path, name, description, mime): (&str, &str, &str, &str)| {
        ResourceTemplate::new(format!("{SCHEME}{path}"), name)
            .with_description(description)
            .with_mime_type(mime)
    };
    TEMPLATES.into_iter().map(template).collect()
}

/// The address of a job's whole answer.
pub(super) fn of_job(id: &str) -> Resource {
    Resource::new(format!("{SCHEME}job/{id}"), "the whole answer").with_mime_type(JSON)
}

pub(super) fn read(session: &Session, uri: &str) -> Result<ReadResourceResult, Error> {
    let Some((document, mime)) = parse(uri) else {
        return Err(Error::Usage(format!(
            "there is no resource {uri:?}; resources/list and resources/templates/list name them"
        )));
    };
    let bytes = session.document(&Repository::default(), &document)?;
    let contents = match String::from_utf8(bytes) {
        Ok(text) => ResourceContents::text(text, uri).with_mime_type(mime),
        Err(error) => {
            use base64::Engine as _;
            let blob = base64::engine::general_purpose::STANDARD.encode(error.as_bytes());
            // A part of an artifact that is no text is none of its type either.
            let mime = if mime == PNG { PNG } else { "application/octet-stream" };
            ResourceContents::blob(blob, uri).with_mime_type(mime)
        }
    };
    Ok(ReadResourceResult::new(vec![contents]))
}

/// Ids, or names, that begin so. `template` is the address with a place to fill in, empty for a prompt.
pub(super) fn complete(
    session: &Session,
    template: &str,
    argument: &str,
    begun: &str,
) -> Result<Vec<String>, Error> {
    let all: Vec<String> = match argument {
        "id" if template == format!("{SCHEME}job/{{id}}") => {
            let jobs = session.jobs(&Repository::default(), LISTED)?;
            jobs.into_iter().map(|job| job.job).collect()
        }
        "id" | "artifact" => {
            let kept = session.artifacts(&Repository::default(), LISTED)?;
            kept.into_iter().map(|kept| kept.id).collect()
        }
        "run" => {
            let kept = session.runs(&Repository::default(), RUNS)?;
            kept.into_iter().map(|run| run.id).collect()
        }
        "strategy" => STRATEGIES.map(str::to_owned).into(),
        "part" => PARTS.into_iter().map(|part| part.name().to_owned()).collect(),
        _ => Vec::new(),
    };
    Ok(all.into_iter().filter(|value| value.starts_with(begun)).collect())
}

/// What is at an address, and its type.
fn parse(uri: &str) -> Option<(Document, &'static str)> {
    let path = uri.strip_prefix(SCHEME)?;
    let is_id = |id: &&str| id.len() >= 8 && id.bytes().all(|byte| byte.is_ascii_hexdigit());
    if path == "rounds.csv" {
        return Some((Document::Rounds, "text/csv"));
    }
    let (kind, rest) = path.split_once('/')?;
    let (id, part) = match rest.split_once('/') {
        None => (rest, None),
        Some((id, name)) => (id, Some(PARTS.into_iter().find(|part| part.name() == name)?)),
    };
    let id = Some(id).filter(is_id)?.to_ascii_lowercase();
    match (kind, part) {
        ("artifact", None) => Some((Document::Artifact(id), JSON)),
        ("artifact", Some(part)) => Some((Document::Part(id, part), "text/plain")),
        ("report", None) => Some((Document::Report(id), JSON)),
        ("job", None) => Some((Document::Job(id), JSON)),
        ("curve", None) => Some((Document::Curve(id), PNG)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(path: &str, expect: impl Into<Option<Document>>) {
        let found = parse(&format!("{SCHEME}{path}")).map(|(document, _)| document);
        assert_eq!(found, expect.into(), "{path}");
    }

    #[test]
    fn an_address_names_one_document_or_none() {
        let id = "0123abcd4567";
        check("rounds.csv", Document::Rounds);
        check(&format!("artifact/{id}"), Document::Artifact(id.into()));
        check("artifact/0123ABCD4567", Document::Artifact(id.into()));
        let part = Document::Part(id.into(), Part::TestWeaken);
        check(&format!("artifact/{id}/test_weaken.diff"), part);
        check(&format!("report/{id}"), Document::Report(id.into()));
        check(&format!("job/{id}"), Document::Job(id.into()));
        check(&format!("curve/{id}"), Document::Curve(id.into()));
        for path in [
            "",
            "artifact",
            "artifact/",
            "artifact/short",
            "artifact/../../etc/passwd",
            "artifact/0123abcd4567/passwd",
            "artifact/0123abcd4567/../x",
            "report/0123abcd4567/x",
            "curve/0123abcd4567/test_files.txt",
            "x/0123abcd4567",
        ] {
            check(path, None);
        }
        assert!(parse("file:///etc/passwd").is_none());
    }
}
