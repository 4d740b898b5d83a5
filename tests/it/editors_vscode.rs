//! The VS Code extension beside the server: its settings are the server's, its version is ours, and what it
//! contributes is there.

use serde_json::{Map, Value, json};
use std::fs;
use std::path::PathBuf;

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("editors/vscode")
}

fn read(name: &str) -> String {
    fs::read_to_string(folder().join(name)).unwrap()
}

fn manifest() -> Value {
    serde_json::from_str(&read("package.json")).unwrap()
}

/// The settings of the server as VS Code wants them.
fn settings() -> Value {
    let schema = schemars::schema_for!(ssr_mcp::lsp::Settings).to_value();
    let properties = schema["properties"].as_object().unwrap();
    let setting = |(at, (name, property)): (usize, (&String, &Value))| {
        let mut setting = Map::new();
        setting.insert("type".to_owned(), property["type"].clone());
        for key in ["default", "minimum"] {
            if let Some(value) = property.get(key) {
                setting.insert(key.to_owned(), value.clone());
            }
        }
        setting.insert("scope".to_owned(), json!("window"));
        setting.insert("order".to_owned(), json!(at + 1));
        setting.insert("description".to_owned(), property["description"].clone());
        (format!("ssrMcp.{name}"), Value::Object(setting))
    };
    Value::Object(properties.iter().enumerate().map(setting).collect())
}

#[test]
fn the_settings_of_the_extension_are_those_of_the_server() {
    let mut manifest = manifest();
    let found = &mut manifest["contributes"]["configuration"][1];
    assert_eq!(found["title"], "What the editor shows");
    let wanted = settings();
    if found["properties"] == wanted {
        return;
    }
    assert!(
        std::env::var_os("UPDATE_EXPECT").is_some(),
        "editors/vscode/package.json has other settings than the server; run with UPDATE_EXPECT=1 and read \
         the difference"
    );
    found["properties"] = wanted;
    let text = serde_json::to_string_pretty(&manifest).unwrap() + "\n";
    // In one step: the other tests read it at the same time.
    fs::write(folder().join("package.json.part"), text).unwrap();
    fs::rename(folder().join("package.json.part"), folder().join("package.json")).unwrap();
}

#[test]
fn every_setting_is_described() {
    for group in manifest()["contributes"]["configuration"].as_array().unwrap() {
        for (name, setting) in group["properties"].as_object().unwrap() {
            let text = setting.get("description").or_else(|| setting.get("markdownDescription"));
            assert!(text.and_then(Value::as_str).is_some_and(|text| text.len() > 10), "{name}");
        }
    }
}

#[test]
fn what_the_extension_contributes_is_there() {
    let manifest = manifest();
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    let contributes = &manifest["contributes"];
    let commands: Vec<&str> = contributes["commands"]
        .as_array()
        .unwrap()
        .iter()
        .map(|command| {
            assert_eq!(command["category"], "Self-play");
            command["command"].as_str().unwrap()
        })
        .collect();
    let source = read("src/commands.ts");
    for command in &commands {
        let name = command.strip_prefix("ssrMcp.ui.").unwrap();
        assert!(
            source.contains(&format!("      {name}: ("))
                || source.contains(&format!("      {name}: async")),
            "{command} is contributed, and src/commands.ts registers no {name}"
        );
    }
    for (place, items) in contributes["menus"].as_object().unwrap() {
        for item in items.as_array().unwrap() {
            let command = item["command"].as_str().unwrap();
            assert!(
                commands.contains(&command),
                "{place} offers {command}, which is not contributed"
            );
        }
    }
    let walkthrough = contributes["walkthroughs"][0]["steps"].as_array().unwrap();
    let media = walkthrough.iter().map(|step| step["media"]["markdown"].as_str().unwrap());
    for file in media.chain(["images/selfplay.svg", "images/icon.png", "README.md", "LICENSE"]) {
        assert!(folder().join(file).is_file(), "{file} is not there");
    }
}

#[test]
fn the_lock_file_names_no_registry() {
    let lock = read("package-lock.json");
    assert!(!lock.contains("\"resolved\""), "npm install --omit-lockfile-registry-resolved");
    let lock: Value = serde_json::from_str(&lock).unwrap();
    assert_eq!(lock["packages"][""]["version"], manifest()["version"]);
}
