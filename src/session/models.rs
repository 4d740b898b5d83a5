//! From settings to a model that can be asked.

use super::{Error, Session};
use crate::config::{ModelFlags, ModelProblem, ModelSettings, Models, Player};
use crate::model::{self, Client, Settings};
use std::path::{Path, PathBuf};

/// A model in its role, ready to be asked.
#[derive(Clone, Debug)]
pub struct RolePlayer {
    pub client: Client,
    pub settings: ModelSettings,
}

/// A provider that is set up, as `doctor` shows it. Nothing is asked of it.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ProviderState {
    pub name: String,
    /// Where replies are asked for, and what was made of the URL that was given; null where it cannot be used.
    pub url: Option<String>,
    /// Where its key comes from and how long it is; null where none is set.
    pub key: Option<String>,
    /// Why it cannot be used.
    pub problem: Option<String>,
}

impl From<ModelProblem> for Error {
    fn from(problem: ModelProblem) -> Self {
        Self::Usage(problem.to_string())
    }
}

impl From<model::Error> for Error {
    fn from(error: model::Error) -> Self {
        match error {
            model::Error::Cancelled => Self::Cancelled,
            other => Self::harness(other),
        }
    }
}

impl Session {
    /// What is set up for a repository; `dir` as everywhere.
    pub(super) fn models(
        &self,
        dir: Option<&PathBuf>,
        flags: &ModelFlags,
    ) -> Result<Models, Error> {
        let root = match dir {
            Some(dir) => self.config().cwd.join(dir),
            None => self.config().cwd.clone(),
        };
        let root = root.canonicalize().map_err(|error| {
            Error::usage(format!("{} cannot be opened ({error}); give a directory", root.display()))
        })?;
        self.models_at(&root, flags)
    }

    /// The same at a root that is known.
    pub(super) fn models_at(&self, root: &Path, flags: &ModelFlags) -> Result<Models, Error> {
        let models = self.config().models(Some(root), flags)?;
        for warning in &models.warnings {
            tracing::warn!("{warning}");
        }
        Ok(models)
    }

    /// The model of a role. From now on no dump of this process can show its key.
    pub(super) fn role_player(&self, models: &Models, player: Player) -> Result<RolePlayer, Error> {
        let settings = models.role(player)?;
        if settings.provider.key.is_some() {
            model::keep_from_dumps();
        }
        let known = Settings { native_tools: settings.native_tools, context: settings.context };
        let client = Client::new(
            settings.provider.clone(),
            settings.model.as_str(),
            known,
            self.config().seed,
        )?;
        Ok(RolePlayer { client, settings })
    }

    /// Providers that are set up, and problems with the settings as a whole.
    pub(super) fn provider_states(&self) -> (Vec<ProviderState>, Vec<String>) {
        let models = match self.config().models(Some(&self.config().cwd), &ModelFlags::default()) {
            Ok(models) => models,
            Err(problem) => return (Vec::new(), vec![problem.to_string()]),
        };
        (states(&models), models.warnings.clone())
    }
}

/// The providers that these settings name.
pub(super) fn states(models: &Models) -> Vec<ProviderState> {
    let state = |name: String| match models.provider(&name) {
        Ok(provider) => {
            if provider.key.is_some() {
                model::keep_from_dumps();
            }
            let key = provider.key.as_ref().map(|key| key.shape().to_string());
            let url = Some(model::explained(&provider.base));
            ProviderState { name, url, key, problem: None }
        }
        Err(problem) => {
            ProviderState { name, url: None, key: None, problem: Some(problem.to_string()) }
        }
    };
    models.providers().into_iter().map(state).collect()
}
