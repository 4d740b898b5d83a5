//! `config show`: what is set, and where each value came from.

use super::{Error, ProviderState, Session};
use crate::config::{ModelFlags, Setting};
use std::path::PathBuf;

#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct ConfigAnswer {
    /// Files that were read, the one that counts least first.
    pub files: Vec<String>,
    /// Sorted by name.
    pub settings: Vec<SettingLine>,
    pub providers: Vec<ProviderState>,
    /// What stands in a file and is not used.
    pub warnings: Vec<String>,
}

/// One value. Never a key.
#[derive(Clone, Debug, serde::Serialize, schemars::JsonSchema)]
pub struct SettingLine {
    pub name: String,
    pub value: String,
    /// default, a file, a variable, or the command line.
    pub source: String,
}

impl From<Setting> for SettingLine {
    fn from(setting: Setting) -> Self {
        let Setting { name, value, origin } = setting;
        Self { name, value, source: origin.to_string() }
    }
}

impl Session {
    pub fn configured(&self, dir: Option<&PathBuf>) -> Result<ConfigAnswer, Error> {
        let models = self.models(dir, &ModelFlags::default())?;
        Ok(ConfigAnswer {
            files: models.files.iter().map(|file| file.display().to_string()).collect(),
            settings: models.settings().into_iter().map(SettingLine::from).collect(),
            providers: super::models::states(&models),
            warnings: models.warnings.clone(),
        })
    }
}
