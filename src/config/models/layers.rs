//! Settings one over another, each value with where it came from.

use super::file::{File, ProviderTable, RoleTable};
use super::{Environment, ModelFlags, PROVIDER, Player};
use std::collections::BTreeSet;
use std::fmt;
use std::path::PathBuf;

/// Where a value came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    Default,
    User(PathBuf),
    Workspace(PathBuf),
    /// A variable.
    Environment(&'static str),
    /// The file of `--config`.
    Given(PathBuf),
    Flag,
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => f.write_str("default"),
            Self::User(path) | Self::Workspace(path) => write!(f, "{}", path.display()),
            Self::Given(path) => write!(f, "--config {}", path.display()),
            Self::Environment(variable) => f.write_str(variable),
            Self::Flag => f.write_str("command line"),
        }
    }
}

/// A value and where it came from, for a person. Never a key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    pub name: String,
    pub value: String,
    pub origin: Origin,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct Found<T> {
    pub(super) value: T,
    pub(super) origin: Origin,
}

#[derive(Clone, Debug)]
pub(super) struct Layer {
    pub(super) origin: Origin,
    pub(super) file: File,
}

impl Layer {
    pub(super) fn of_flags(flags: &ModelFlags) -> Self {
        let mut file = File::default();
        for (player, model) in &flags.models {
            role_mut(&mut file, *player).model = Some(model.clone());
        }
        Self { origin: Origin::Flag, file }
    }
}

/// From the lowest to the one that wins.
#[derive(Clone, Debug, Default)]
pub(super) struct Layers(Vec<Layer>);

impl Layers {
    pub(super) fn push(&mut self, layer: Layer) {
        self.0.push(layer);
    }

    /// These, and over them what the environment says; each variable is a layer, since each is an origin.
    pub(super) fn with_environment(below: &Self, environment: &Environment) -> Self {
        let mut layers = below.clone();
        if let Some(url) = environment.text("TAOTOKEN_BASE_URL") {
            let mut file = File::default();
            file.providers.entry(PROVIDER.to_owned()).or_default().base_url = Some(url);
            layers.push(Layer { origin: Origin::Environment("TAOTOKEN_BASE_URL"), file });
        }
        for player in Player::ALL {
            if let Some(model) = environment.text(player.variable()) {
                let mut file = File::default();
                role_mut(&mut file, player).model = Some(model.trim().to_owned());
                layers.push(Layer { origin: Origin::Environment(player.variable()), file });
            }
        }
        layers
    }

    /// The value that wins.
    pub(super) fn find<T>(&self, pick: impl Fn(&File) -> Option<T>) -> Option<Found<T>> {
        self.0.iter().rev().find_map(|layer| {
            Some(Found { value: pick(&layer.file)?, origin: layer.origin.clone() })
        })
    }

    pub(super) fn role<T>(
        &self,
        player: Player,
        pick: impl Fn(&RoleTable) -> Option<T>,
    ) -> Option<Found<T>> {
        self.find(|file| pick(role(file, player)))
    }

    /// An empty name is no model.
    pub(super) fn model(&self, player: Player) -> Option<Found<String>> {
        self.role(player, |role| role.model.clone().filter(|model| !model.trim().is_empty()))
    }

    pub(super) fn provider<T>(
        &self,
        name: &str,
        pick: impl Fn(&ProviderTable) -> Option<T>,
    ) -> Option<Found<T>> {
        self.find(|file| pick(file.providers.get(name)?))
    }

    pub(super) fn provider_names(&self) -> BTreeSet<String> {
        self.0.iter().flat_map(|layer| layer.file.providers.keys().cloned()).collect()
    }

    /// Directories that some layer trusts.
    pub(super) fn trusted(&self) -> impl Iterator<Item = &PathBuf> {
        self.0.iter().flat_map(|layer| &layer.file.trust)
    }

    /// All that is set, each name once, with the value that wins.
    pub(super) fn settings(&self) -> Vec<Setting> {
        let mut settings: Vec<Setting> = Vec::new();
        for layer in &self.0 {
            for (name, value) in entries(&layer.file) {
                settings.retain(|setting| setting.name != name);
                settings.push(Setting { name, value, origin: layer.origin.clone() });
            }
        }
        settings
    }
}

pub(super) fn role(file: &File, player: Player) -> &RoleTable {
    match player {
        Player::Injector => &file.roles.injector,
        Player::Solver => &file.roles.solver,
        Player::Ornith => &file.roles.ornith,
    }
}

fn role_mut(file: &mut File, player: Player) -> &mut RoleTable {
    match player {
        Player::Injector => &mut file.roles.injector,
        Player::Solver => &mut file.roles.solver,
        Player::Ornith => &mut file.roles.ornith,
    }
}

/// Everything that a layer sets, by name. There is no key among it: files cannot hold one.
pub(super) fn entries(file: &File) -> Vec<(String, String)> {
    let mut entries = Vec::new();
    let mut add = |name: String, value: Option<String>| {
        entries.extend(value.map(|value| (name, value)));
    };
    add("provider".to_owned(), file.provider.clone());
    for (name, table) in &file.providers {
        for (key, value) in of_provider(table) {
            add(format!("providers.{name}.{key}"), value);
        }
    }
    for player in Player::ALL {
        for (key, value) in of_role(role(file, player)) {
            add(format!("roles.{}.{key}", player.name()), value);
        }
    }
    add("reward.alpha".to_owned(), file.reward.alpha.map(|value| value.to_string()));
    add("reward.invalid".to_owned(), file.reward.invalid.map(|value| value.to_string()));
    if !file.trust.is_empty() {
        let paths: Vec<String> = file.trust.iter().map(|path| path.display().to_string()).collect();
        add("trust".to_owned(), Some(paths.join(", ")));
    }
    entries
}

fn of_provider(table: &ProviderTable) -> [(&'static str, Option<String>); 10] {
    let ProviderTable {
        kind,
        base_url,
        exact_url,
        api_key_env,
        api_key_file,
        keyring,
        no_proxy,
        ca_file,
        timeout_seconds,
        tries,
    } = table;
    let flag = |flag: &Option<bool>| flag.map(|flag| flag.to_string());
    [
        ("kind", kind.clone()),
        ("base_url", base_url.clone()),
        ("exact_url", flag(exact_url)),
        ("api_key_env", api_key_env.clone()),
        ("api_key_file", api_key_file.clone()),
        ("keyring", flag(keyring)),
        ("no_proxy", flag(no_proxy)),
        ("ca_file", ca_file.clone()),
        ("timeout_seconds", timeout_seconds.map(|value| value.to_string())),
        ("tries", tries.map(|value| value.to_string())),
    ]
}

fn of_role(table: &RoleTable) -> [(&'static str, Option<String>); 11] {
    let RoleTable {
        provider,
        model,
        temperature,
        top_p,
        max_tokens,
        context,
        tools,
        system_prompt,
        price_input,
        price_cached,
        price_output,
    } = table;
    let number = |value: &Option<f64>| value.map(|value| value.to_string());
    [
        ("provider", provider.clone()),
        ("model", model.clone()),
        ("temperature", number(temperature)),
        ("top_p", number(top_p)),
        ("max_tokens", max_tokens.map(|value| value.to_string())),
        ("context", context.map(|value| value.to_string())),
        ("tools", tools.map(|tools| tools.name().to_owned())),
        ("system_prompt", system_prompt.clone()),
        ("price_input", number(price_input)),
        ("price_cached", number(price_cached)),
        ("price_output", number(price_output)),
    ]
}
