//! Which model plays a role, and how it is reached: files, environment and flags, each value with where it came from.

mod file;
mod keys;
mod layers;
mod legacy;
mod problem;
mod trust;
#[cfg(test)]
mod tests;

pub use file::schema;
pub use layers::{Origin, Setting};
pub use problem::Problem;

use super::Environment;
use crate::model::{BaseUrl, Kind, Patience, Provider, Proxies, Proxy};
use file::{ProviderTable, RoleTable};
use layers::{Layer, Layers};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A file of this name is read in the repository's root and in the user's directory.
pub const FILE: &str = "ssr-mcp.toml";
/// What the scripts keep that this is used instead of; read in the repository's root.
const LEGACY: &str = "ssr_config.json";

/// Who plays by a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Player {
    Injector,
    Solver,
    Ornith,
}

impl Player {
    pub const ALL: [Self; 3] = [Self::Injector, Self::Solver, Self::Ornith];

    pub fn name(self) -> &'static str {
        match self {
            Self::Injector => "injector",
            Self::Solver => "solver",
            Self::Ornith => "ornith",
        }
    }

    pub fn of(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|player| player.name() == name)
    }

    /// The variable that names its model.
    pub fn variable(self) -> &'static str {
        match self {
            Self::Injector => "INJECT_MODEL",
            Self::Solver => "SOLVE_MODEL",
            Self::Ornith => "ORNITH_MODEL",
        }
    }

    /// Where nobody says otherwise: what makes bugs is to vary, what repairs them is not.
    pub fn temperature(self) -> f64 {
        match self {
            Self::Injector => 0.7,
            Self::Solver => 0.2,
            Self::Ornith => 1.0,
        }
    }
}

/// Tokens of a reply where nobody says otherwise.
const MAX_TOKENS: u32 = 8192;
/// The provider of roles that name none.
const PROVIDER: &str = "taotoken";

/// What the command line says of models.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ModelFlags {
    /// `MODEL` or `MODEL@PROVIDER`, by role.
    pub models: Vec<(Player, String)>,
}

/// What the process was started with, kept until a repository is known.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    pub(super) environment: Environment,
    /// `$XDG_CONFIG_HOME/ssr-mcp`.
    pub(super) user: Option<PathBuf>,
    /// `--config`.
    pub(super) given: Option<PathBuf>,
}

/// What is set up, whether or not it can be used.
#[derive(Clone, Debug)]
pub struct Models {
    layers: Layers,
    environment: Environment,
    /// Sentences for the person: keys that mean nothing, values that are not used.
    pub warnings: Vec<String>,
    /// The files that were read.
    pub files: Vec<PathBuf>,
}

/// A model in its role.
#[derive(Clone, Debug)]
pub struct ModelSettings {
    pub player: Player,
    pub provider: Provider,
    pub model: String,
    pub temperature: f64,
    pub top_p: Option<f64>,
    /// Of one reply.
    pub max_tokens: u32,
    /// `None`: what the server says.
    pub context: Option<u64>,
    /// `None`: found out.
    pub native_tools: Option<bool>,
    /// Said to the model beside our own prompt.
    pub instructions: Option<String>,
    pub price: Option<Price>,
}

/// Money a million tokens, in whatever currency.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Price {
    pub input: f64,
    /// Of tokens that were not worked out anew; as `input` where not given.
    pub cached: f64,
    pub output: f64,
}

/// What scores are worth, where a file says it.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Rewards {
    pub alpha: Option<f64>,
    pub invalid: Option<f64>,
}

impl Models {
    /// Reads all layers. `workspace`: the repository's root, whose files are a stranger's unless the user trusts it.
    pub(super) fn read(
        sources: &Sources,
        workspace: Option<&Path>,
        flags: &ModelFlags,
    ) -> Result<Self, Problem> {
        let mut warnings = Vec::new();
        let mut files = Vec::new();
        let mut layers = Layers::default();
        let mut add =
            |layers: &mut Layers, found: Option<file::Read>, origin: fn(PathBuf) -> Origin| {
                if let Some(read) = found {
                    warnings.extend(read.warnings);
                    files.push(read.path.clone());
                    layers.push(Layer { origin: origin(read.path), file: read.file });
                }
            };
        if let Some(user) = &sources.user {
            add(&mut layers, file::read(&user.join(FILE))?, Origin::User);
        }
        if let Some(root) = workspace {
            let of_seeds = legacy::read(&root.join(LEGACY))?;
            let own = file::read(&root.join(FILE))?;
            let below = Layers::with_environment(&layers, &sources.environment);
            if !trust::is_trusted(root, &layers) {
                for read in [&of_seeds, &own].into_iter().flatten() {
                    trust::admit(read, root, sources.user.as_deref(), &below)?;
                }
            }
            add(&mut layers, of_seeds, Origin::Workspace);
            add(&mut layers, own, Origin::Workspace);
        }
        let mut layers = Layers::with_environment(&layers, &sources.environment);
        if let Some(path) = &sources.given {
            let json = path.extension().is_some_and(|extension| extension == "json");
            let read = if json { legacy::read(path)? } else { file::read(path)? };
            let read = read.ok_or_else(|| Problem::Missing(path.clone()))?;
            add(&mut layers, Some(read), Origin::Given);
        }
        layers.push(Layer::of_flags(flags));
        Ok(Self { layers, environment: sources.environment.clone(), warnings, files })
    }

    /// The model of a role with all that is needed to ask it. The key is read here.
    pub fn role(&self, player: Player) -> Result<ModelSettings, Problem> {
        let said = self.layers.model(player).ok_or(Problem::NoModel(player))?;
        let (model, provider) = self.split(&said.value);
        let provider = provider.unwrap_or_else(|| self.provider_of(player).value);
        let role = |pick: fn(&RoleTable) -> Option<f64>| self.layers.role(player, pick);
        let temperature =
            role(|role| role.temperature).map_or(player.temperature(), |set| set.value);
        let price = match (role(|role| role.price_input), role(|role| role.price_output)) {
            (Some(input), Some(output)) => Some(Price {
                input: input.value,
                output: output.value,
                cached: role(|role| role.price_cached).map_or(input.value, |set| set.value),
            }),
            _ => None,
        };
        Ok(ModelSettings {
            player,
            provider: self.provider(&provider)?,
            model,
            temperature,
            top_p: role(|role| role.top_p).map(|set| set.value),
            max_tokens: self
                .layers
                .role(player, |role| role.max_tokens)
                .map_or(MAX_TOKENS, |set| set.value),
            context: self.layers.role(player, |role| role.context).map(|set| set.value),
            native_tools: self
                .layers
                .role(player, |role| role.tools)
                .and_then(|set| set.value.is_native()),
            instructions: self
                .layers
                .role(player, |role| role.system_prompt.clone())
                .map(|set| set.value),
            price,
        })
    }

    /// A provider by its name. The key is read here.
    pub fn provider(&self, name: &str) -> Result<Provider, Problem> {
        let table = |pick: fn(&ProviderTable) -> Option<String>| {
            self.layers.provider(name, pick).map(|set| set.value)
        };
        let flag = |pick: fn(&ProviderTable) -> Option<bool>| {
            self.layers.provider(name, pick).is_some_and(|set| set.value)
        };
        let kind = match table(|provider| provider.kind.clone()) {
            Some(kind) => Kind::of(&kind).unwrap_or(Kind::Other),
            None => Kind::of(name).unwrap_or(Kind::Other),
        };
        let url = table(|provider| provider.base_url.clone())
            .or_else(|| kind.base_url().map(str::to_owned))
            .ok_or_else(|| Problem::NoUrl(name.to_owned()))?;
        let base = BaseUrl::of(&url, flag(|provider| provider.exact_url))
            .map_err(|error| Problem::Url(name.to_owned(), error))?;
        let mut provider = Provider::new(name, kind, base);
        let of_name = Kind::of(name).and_then(Kind::key_variable).map(str::to_owned);
        if let Some(variable) = table(|provider| provider.api_key_env.clone()).or(of_name) {
            provider.key_variable = variable;
        }
        let file = table(|provider| provider.api_key_file.clone()).map(PathBuf::from);
        let keyring = flag(|provider| provider.keyring);
        provider.key = keys::find(&self.environment, &provider, file.as_deref(), keyring)?;
        if !flag(|provider| provider.no_proxy) {
            provider.proxies = proxies(&self.environment);
        }
        if let Some(path) = table(|provider| provider.ca_file.clone()) {
            provider.authorities = Some(keys::certificates(Path::new(&path))?);
        }
        if let Some(set) = self.layers.provider(name, |provider| provider.timeout_seconds) {
            provider.timeout = Duration::from_secs(set.value.max(1));
        }
        if let Some(set) = self.layers.provider(name, |provider| provider.tries) {
            provider.patience = Patience { tries: set.value.max(1), ..Patience::default() };
        }
        Ok(provider)
    }

    /// What scores are worth.
    pub fn rewards(&self) -> Rewards {
        Rewards {
            alpha: self.layers.find(|file| file.reward.alpha).map(|set| set.value),
            invalid: self.layers.find(|file| file.reward.invalid).map(|set| set.value),
        }
    }

    /// Roles that a model is named for.
    pub fn players(&self) -> Vec<Player> {
        Player::ALL.into_iter().filter(|player| self.layers.model(*player).is_some()).collect()
    }

    /// Every setting that something says, and the defaults of those roles that have a model; in order of names.
    pub fn settings(&self) -> Vec<Setting> {
        let mut settings = self.layers.settings();
        for player in self.players() {
            let name = |of: &str| format!("roles.{}.{of}", player.name());
            let mut default = |of: &str, value: String| {
                if !settings.iter().any(|setting| setting.name == name(of)) {
                    settings.push(Setting { name: name(of), value, origin: Origin::Default });
                }
            };
            default("temperature", player.temperature().to_string());
            default("max_tokens", MAX_TOKENS.to_string());
            if self.layers.model(player).is_none_or(|said| self.split(&said.value).1.is_none()) {
                default("provider", self.provider_of(player).value);
            }
        }
        for provider in self.providers() {
            let name = format!("providers.{provider}.base_url");
            let default = Kind::of(&provider).and_then(Kind::base_url);
            if let Some(url) = default.filter(|_| !settings.iter().any(|set| set.name == name)) {
                settings.push(Setting { name, value: url.to_owned(), origin: Origin::Default });
            }
        }
        settings.sort_by(|a, b| a.name.cmp(&b.name));
        settings
    }

    /// Providers that a role or a file names, sorted.
    pub fn providers(&self) -> BTreeSet<String> {
        let named = self.layers.provider_names();
        let of_roles = self.players().into_iter().map(|player| {
            let said = self.layers.model(player).map(|said| said.value).unwrap_or_default();
            self.split(&said).1.unwrap_or_else(|| self.provider_of(player).value)
        });
        named.into_iter().chain(of_roles).collect()
    }

    fn provider_of(&self, player: Player) -> layers::Found<String> {
        self.layers
            .role(player, |role| role.provider.clone())
            .or_else(|| self.layers.find(|file| file.provider.clone()))
            .unwrap_or(layers::Found { value: PROVIDER.to_owned(), origin: Origin::Default })
    }

    /// `MODEL@PROVIDER`, where what follows the last `@` is one.
    fn split(&self, text: &str) -> (String, Option<String>) {
        match text.rsplit_once('@') {
            Some((model, provider)) if self.is_provider(provider) => {
                (model.to_owned(), Some(provider.to_owned()))
            }
            _ => (text.to_owned(), None),
        }
    }

    fn is_provider(&self, name: &str) -> bool {
        Kind::of(name).is_some() || self.layers.provider_names().contains(name)
    }
}

/// The small names first, as most programs read them.
fn proxies(environment: &Environment) -> Proxies {
    let first = |names: &[&str]| {
        let name = names.iter().find(|name| environment.text(name).is_some())?;
        Some(Proxy::new(*name, environment.text(name)?))
    };
    Proxies {
        http: first(&["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"]),
        https: first(&["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]),
        none_for: environment
            .text("no_proxy")
            .or_else(|| environment.text("NO_PROXY"))
            .unwrap_or_default(),
    }
}
