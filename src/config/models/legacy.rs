//! `ssr_config.json`, as scripts that drive the method through one key and one URL keep it.

use super::file::{File, Read, RewardTable, RoleTable, foreign, text};
use super::{LEGACY, PROVIDER, Problem};
use serde::Deserialize;
use std::path::Path;

#[derive(Deserialize)]
#[serde(default)]
#[derive(Default)]
struct Legacy {
    base_url: Option<String>,
    roles: Roles,
    reward: Reward,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Roles {
    injector: Role,
    solver: Role,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Role {
    model: Option<String>,
    system_prompt: Option<String>,
    temperature: Option<f64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Reward {
    inject_consistency_fail: Option<f64>,
    inject_too_easy: Option<f64>,
    inject_ideal: Option<f64>,
    solve_pass: Option<f64>,
    solve_fail: Option<f64>,
    target_solve_rate: Option<f64>,
}

/// `None` where there is none.
pub(super) fn read(path: &Path) -> Result<Option<Read>, Problem> {
    text(path)?.map(|text| parsed(path, &text)).transpose()
}

/// What the text of a file at `path` says.
pub(super) fn parsed(path: &Path, text: &str) -> Result<Read, Problem> {
    let mut warnings = Vec::new();
    let shown = path.display();
    let mut json = serde_json::Deserializer::from_str(text);
    let legacy: Legacy = serde_ignored::deserialize(&mut json, |key| {
        let key = foreign(&key);
        warnings.push(format!("{shown}: {key} is no setting of {LEGACY}, and is ignored"));
    })
    .map_err(|error| {
        // Without what stands there: the file may be a link to anything.
        let reason = format!("line {}: it is no JSON of settings", error.line());
        Problem::Unreadable(path.to_path_buf(), reason)
    })?;
    let reward = &legacy.reward;
    let fixed = [
        ("inject_ideal", reward.inject_ideal, None, "it is 1 - (1 + alpha) x solve rate"),
        ("solve_pass", reward.solve_pass, Some(1.0), "it is 1"),
        ("solve_fail", reward.solve_fail, Some(-1.0), "it is -1"),
        (
            "target_solve_rate",
            reward.target_solve_rate,
            None,
            "it follows from the number of attempts",
        ),
    ];
    for (name, value, kept, instead) in fixed {
        if value.is_some() && value != kept {
            warnings.push(format!("{shown}: reward.{name} is not used: {instead}"));
        }
    }
    let mut file = File {
        reward: RewardTable {
            // A reward there, a cost here.
            alpha: reward.inject_too_easy.map(|reward| -reward),
            invalid: reward.inject_consistency_fail,
        },
        ..File::default()
    };
    if let Some(url) = legacy.base_url {
        file.provider = Some(PROVIDER.to_owned());
        file.providers.entry(PROVIDER.to_owned()).or_default().base_url = Some(url);
    }
    file.roles.injector = role(legacy.roles.injector);
    file.roles.solver = role(legacy.roles.solver);
    Ok(Read { path: path.to_path_buf(), file, warnings })
}

fn role(role: Role) -> RoleTable {
    let Role { model, system_prompt, temperature } = role;
    RoleTable { model, temperature, system_prompt, ..RoleTable::default() }
}
