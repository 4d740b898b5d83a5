//! Files, variables and flags to a model in its role.

mod mangled;

use crate::config::{
    Config, Environment, Flags, ModelFlags, ModelProblem, ModelSettings, Models, Player,
};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const KEY: &str = "sk-0123456789abcdef";

/// A user's directory and a repository.
struct Place {
    dir: TempDir,
    given: Option<PathBuf>,
}

impl Place {
    fn new() -> Self {
        let place = Self { dir: tempfile::tempdir().unwrap(), given: None };
        fs::create_dir_all(place.path("user/ssr-mcp")).unwrap();
        fs::create_dir_all(place.path("repo")).unwrap();
        place
    }

    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    fn write(&self, name: &str, text: &str) -> &Self {
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn user(&self, text: &str) -> &Self {
        self.write("user/ssr-mcp/ssr-mcp.toml", text)
    }

    fn repo(&self, text: &str) -> &Self {
        self.write("repo/ssr-mcp.toml", text)
    }

    fn config(&self, variables: &[(&str, &str)]) -> Config {
        let user = self.path("user").display().to_string();
        let home = self.dir.path().display().to_string();
        let own = [("XDG_CONFIG_HOME", user.as_str()), ("HOME", home.as_str())];
        let all = own.into_iter().chain(variables.iter().copied());
        let flags = Flags { config: self.given.clone(), ..Flags::default() };
        Config::new(&flags, &Environment::of(self.path("repo"), all), 1, 2, 1 << 30).unwrap()
    }

    fn models(&self, variables: &[(&str, &str)]) -> Result<Models, ModelProblem> {
        self.config(variables).models(Some(&self.path("repo")), &ModelFlags::default())
    }

    fn solver(&self, variables: &[(&str, &str)]) -> Result<ModelSettings, ModelProblem> {
        self.models(variables)?.role(Player::Solver)
    }
}

fn url(settings: &ModelSettings) -> String {
    settings.provider.base.to_string()
}

#[test]
fn the_documented_variables_are_enough() {
    let place = Place::new();
    let variables = [
        ("TAOTOKEN_API_KEY", KEY),
        ("TAOTOKEN_BASE_URL", "https://taotoken.net/api/v1/"),
        ("INJECT_MODEL", "big"),
        ("SOLVE_MODEL", "small"),
    ];
    let models = place.models(&variables).unwrap();
    let (injector, solver) =
        (models.role(Player::Injector).unwrap(), models.role(Player::Solver).unwrap());
    assert_eq!((injector.model.as_str(), injector.temperature), ("big", 0.7));
    assert_eq!((solver.model.as_str(), solver.temperature), ("small", 0.2));
    assert_eq!(url(&solver), "https://taotoken.net/api/v1");
    let key = solver.provider.key.unwrap();
    assert_eq!((key.shape().source.as_str(), key.shape().length), ("TAOTOKEN_API_KEY", 19));
    let none = models.role(Player::Ornith).unwrap_err().to_string();
    assert!(none.contains("set ORNITH_MODEL"), "{none}");
}

#[test]
fn the_nearer_layer_wins() {
    let mut place = Place::new();
    let role = |model: &str| format!("[roles.solver]\nmodel = \"{model}\"\n");
    let solver = |place: &Place, variables: &[(&str, &str)]| place.solver(variables).unwrap().model;
    place.user(&role("users"));
    assert_eq!(solver(&place, &[]), "users");
    place.write("repo/ssr_config.json", r#"{"roles": {"solver": {"model": "seeds"}}}"#);
    assert_eq!(solver(&place, &[]), "seeds");
    place.repo(&role("repos"));
    assert_eq!(solver(&place, &[]), "repos");
    assert_eq!(solver(&place, &[("SOLVE_MODEL", "variables")]), "variables");
    place.write("named.toml", &role("named"));
    place.given = Some(place.path("named.toml"));
    assert_eq!(solver(&place, &[("SOLVE_MODEL", "variables")]), "named");
    let flags = ModelFlags { models: vec![(Player::Solver, "flag@ollama".to_owned())] };
    let models = place.config(&[]).models(Some(&place.path("repo")), &flags).unwrap();
    let settings = models.role(Player::Solver).unwrap();
    assert_eq!((settings.model.as_str(), settings.provider.name.as_str()), ("flag", "ollama"));
}

#[test]
fn every_value_says_where_it_came_from_and_no_key_is_among_them() {
    let place = Place::new();
    place
        .user("[roles.injector]\ntemperature = 0.5\nmodel = \"m\"\n")
        .repo("[roles.solver]\ncontext = 5\n");
    let variables = [("SOLVE_MODEL", "s"), ("TAOTOKEN_API_KEY", KEY)];
    let config = place.config(&variables);
    let models = config.models(Some(&place.path("repo")), &ModelFlags::default()).unwrap();
    let lines: Vec<String> = models
        .settings()
        .iter()
        .map(|set| format!("{} = {} ({})", set.name, set.value, set.origin))
        .map(|line| line.replace(&place.dir.path().display().to_string(), "$DIR"))
        .collect();
    let expected = [
        "providers.taotoken.base_url = https://taotoken.net/api (default)",
        "roles.injector.max_tokens = 8192 (default)",
        "roles.injector.model = m ($DIR/user/ssr-mcp/ssr-mcp.toml)",
        "roles.injector.provider = taotoken (default)",
        "roles.injector.temperature = 0.5 ($DIR/user/ssr-mcp/ssr-mcp.toml)",
        "roles.solver.context = 5 ($DIR/repo/ssr-mcp.toml)",
        "roles.solver.max_tokens = 8192 (default)",
        "roles.solver.model = s (SOLVE_MODEL)",
        "roles.solver.provider = taotoken (default)",
        "roles.solver.temperature = 0.2 (default)",
    ];
    assert_eq!(lines, expected);
    let shown = format!("{config:?} {models:?} {:?}", models.role(Player::Solver).unwrap());
    assert!(!shown.contains("0123456789"), "a key is shown");
}

#[test]
fn the_scripts_settings_load_unchanged() {
    let place = Place::new();
    let text = r#"{
        "base_url": "https://taotoken.net/api",
        "roles": {
            "injector": { "model": "你的注入角色模型ID", "system_prompt": "你是一个 Bug 注入器。", "temperature": 0.7 },
            "solver": { "model": "你的求解角色模型ID", "system_prompt": "你是一个 Bug 修复器。", "temperature": 0.2 }
        },
        "reward": {
            "inject_consistency_fail": -1.0, "inject_too_easy": -0.3, "inject_ideal": 1.0,
            "solve_pass": 1.0, "solve_fail": -1.0, "target_solve_rate": 0.2
        }
    }"#;
    place.write("repo/ssr_config.json", text);
    let models = place.models(&[]).unwrap();
    let injector = models.role(Player::Injector).unwrap();
    assert_eq!(injector.model, "你的注入角色模型ID");
    assert_eq!(injector.instructions.as_deref(), Some("你是一个 Bug 注入器。"));
    assert_eq!((models.rewards().alpha, models.rewards().invalid), (Some(0.3), Some(-1.0)));
    let warnings = models.warnings.join("\n");
    assert_eq!(models.warnings.len(), 2, "{warnings}");
    assert!(warnings.contains("reward.inject_ideal is not used"), "{warnings}");
    assert!(warnings.contains("reward.target_solve_rate is not used"), "{warnings}");
    place.write("repo/ssr_config.json", r#"{"rolls": {}, "roles": {"solver": {"modell": "x"}}}"#);
    let warnings = place.models(&[]).unwrap().warnings.join("\n");
    assert!(warnings.contains(": rolls is no setting"), "{warnings}");
    assert!(warnings.contains(": roles.solver.modell is no setting"), "{warnings}");
}

#[test]
fn unknown_settings_are_warned_about_and_wrong_ones_refused_by_their_line() {
    let place = Place::new();
    place.repo("colour = 1\n[roles.solver]\nmodle = \"x\"\n");
    let warnings = place.models(&[]).unwrap().warnings.join("\n");
    assert!(warnings.contains(": colour is no setting"), "{warnings}");
    assert!(warnings.contains(": roles.solver.modle is no setting"), "{warnings}");
    place.repo("[roles.solver]\ntemperature = \"SECRET of another file\"\n");
    let refusal = place.models(&[]).unwrap_err().to_string();
    assert!(refusal.contains("ssr-mcp.toml cannot be read (line 2"), "{refusal}");
    place.repo("root:x:0:0:SECRET\n");
    let refusal = place.models(&[]).unwrap_err().to_string();
    assert!(!refusal.contains("SECRET"), "{refusal}");
    fs::remove_file(place.path("repo/ssr-mcp.toml")).unwrap();
    fs::create_dir(place.path("repo/ssr-mcp.toml")).unwrap();
    assert!(place.models(&[]).unwrap_err().to_string().contains("it is no file"));
}

/// What a file of a stranger's repository sets, and the setting that is refused.
#[track_caller]
fn check_refused(user: &str, repo: &str, setting: &str) {
    let place = Place::new();
    place.user(user).repo(repo);
    let variables = [("TAOTOKEN_API_KEY", KEY), ("OPENAI_API_KEY", KEY), ("AWS_SECRET", KEY)];
    let problem = place.models(&variables).unwrap_err();
    let told = problem.to_string();
    let ModelProblem::Untrusted { setting: refused, .. } = problem else { panic!("{told}") };
    assert_eq!(refused, setting);
    assert!(told.contains("trust = [") && told.contains("user/ssr-mcp/ssr-mcp.toml"), "{told}");
    // The user may say that it is trusted.
    let root = place.path("repo").display().to_string();
    place.user(&format!("trust = [{root:?}]\n{user}"));
    place.models(&variables).unwrap();
}

#[test]
fn a_repository_cannot_send_keys_code_or_money_elsewhere() {
    let thief = "[providers.taotoken]\nbase_url = \"https://thief.example/api\"\n";
    check_refused("", thief, "providers.taotoken.base_url");
    // The same host by another way is another place.
    let path = "[providers.taotoken]\nbase_url = \"https://taotoken.net/other\"\n";
    check_refused("", path, "providers.taotoken.base_url");
    let plain = "[providers.taotoken]\nbase_url = \"http://taotoken.net/api\"\n";
    check_refused("", plain, "providers.taotoken.base_url");
    let mine =
        "[providers.mine]\nbase_url = \"https://mine.example\"\napi_key_env = \"OPENAI_API_KEY\"\n";
    check_refused(
        mine,
        "[providers.mine]\nbase_url = \"https://thief.example\"\n",
        "providers.mine.base_url",
    );
    let new = "[providers.new]\nbase_url = \"https://thief.example\"\n";
    check_refused("", new, "providers.new.base_url");
    for key in [
        "api_key_env = \"AWS_SECRET\"",
        "api_key_file = \"/root/.ssh/id\"",
        "ca_file = \"x\"",
        "no_proxy = true",
        "exact_url = true",
        "kind = \"ollama\"",
        "keyring = true",
    ] {
        let setting = format!("providers.taotoken.{}", key.split(' ').next().unwrap());
        check_refused("", &format!("[providers.taotoken]\n{key}\n"), &setting);
    }
    // A key that the user set for something else.
    check_refused("", "provider = \"openai\"\n", "provider");
    check_refused("", "[roles.solver]\nmodel = \"x@openai\"\n", "roles.solver.model");
    check_refused("", "[roles.solver]\nprovider = \"openai\"\n", "roles.solver.provider");
    check_refused("", "[roles.solver]\nprice_input = 0.0\n", "roles.solver.price_input");
    check_refused("", "trust = [\"/\"]\n", "trust");
}

#[test]
fn the_scripts_settings_cannot_send_a_key_elsewhere_either() {
    let place = Place::new();
    place.write("repo/ssr_config.json", r#"{"base_url": "https://thief.example/api"}"#);
    let told = place.models(&[("TAOTOKEN_API_KEY", KEY)]).unwrap_err().to_string();
    assert!(told.contains("providers.taotoken.base_url"), "{told}");
    // The user sends it there: by the variable, or by naming the file.
    let there = [("TAOTOKEN_BASE_URL", "https://thief.example/api/v1")];
    place.models(&there).unwrap();
    let named = Place { given: Some(place.path("repo/ssr_config.json")), ..Place::new() };
    assert_eq!(
        named.models(&[]).unwrap().provider("taotoken").unwrap().base.to_string(),
        "https://thief.example/api/v1"
    );
}

#[test]
fn a_repository_may_name_models_and_servers_of_this_machine() {
    let place = Place::new();
    place.user("[providers.mine]\nbase_url = \"https://mine.example/v1\"\n").repo(
        "provider = \"mine\"\n[providers.mine]\nbase_url = \"https://mine.example\"\n\
         [roles.solver]\nmodel = \"a@ollama\"\ntemperature = 0.0\n[roles.injector]\nmodel = \"b\"\n",
    );
    let models = place.models(&[]).unwrap();
    assert_eq!(models.role(Player::Solver).unwrap().provider.name, "ollama");
    assert_eq!(url(&models.role(Player::Injector).unwrap()), "https://mine.example/v1");
}

#[test]
fn a_key_s_file_is_read_by_its_owner_alone_and_the_variable_wins() {
    let place = Place::new();
    place
        .user("[providers.mine]\nbase_url = \"https://mine.example\"\napi_key_env = \"MINE\"\napi_key_file = \"~/key\"\n[roles.solver]\nmodel = \"m@mine\"\n")
        .write("key", &format!("{KEY}\n"));
    let mode =
        |mode| fs::set_permissions(place.path("key"), fs::Permissions::from_mode(mode)).unwrap();
    mode(0o640);
    let told = place.solver(&[]).unwrap_err().to_string();
    assert!(told.contains("its mode is 640") && told.contains("chmod 600"), "{told}");
    mode(0o600);
    let key = place.solver(&[]).unwrap().provider.key.unwrap();
    assert!(key.shape().source.ends_with("/key") && !key.shape().trimmed, "{:?}", key.shape());
    let key = place.solver(&[("MINE", "sk-other")]).unwrap().provider.key.unwrap();
    assert_eq!(key.shape().source, "MINE");
    fs::remove_file(place.path("key")).unwrap();
    assert!(place.solver(&[]).unwrap_err().to_string().contains("cannot be read"));
}

#[test]
fn a_key_may_be_in_the_kernel_s_keyring() {
    use linux_keyutils::{KeyRing, KeyRingIdentifier};
    let place = Place::new();
    let name = format!("ringed{}", std::process::id());
    place.user(&format!(
        "[providers.{name}]\nbase_url = \"https://mine.example\"\nkeyring = true\n"
    ));
    let provider = || place.models(&[]).unwrap().provider(&name);
    let told = provider().unwrap_err().to_string();
    assert!(told.contains(&format!("keyctl padd user ssr-mcp:{name} @u")), "{told}");
    let ring = KeyRing::from_special_id(KeyRingIdentifier::User, true);
    let added = ring.and_then(|ring| ring.add_key(&format!("ssr-mcp:{name}"), KEY));
    let added = match added {
        Ok(added) => added,
        Err(error) => {
            return eprintln!("NOT RUN: the kernel's keyring cannot be used here ({error})");
        }
    };
    let key = provider().map(|provider| provider.key.unwrap());
    added.invalidate().unwrap();
    assert_eq!(key.unwrap().shape().source, "the keyring");
}

#[test]
fn a_key_in_a_file_of_settings_is_refused_and_not_told() {
    let place = Place::new();
    place.user(&format!("[providers.taotoken]\napi_key = \"{KEY}\"\n"));
    let told = place.models(&[]).unwrap_err().to_string();
    assert!(told.contains("providers.taotoken.api_key") && !told.contains(KEY), "{told}");
}

#[test]
fn proxies_are_taken_from_the_environment_unless_a_provider_goes_directly() {
    let place = Place::new();
    place.user("[providers.openai]\nno_proxy = true\n");
    let variables =
        [("HTTPS_PROXY", "http://proxy:1"), ("all_proxy", "http://all:1"), ("NO_PROXY", "x")];
    let models = place.models(&variables).unwrap();
    let proxies = models.provider("taotoken").unwrap().proxies;
    assert_eq!(proxies.https.unwrap().variable, "HTTPS_PROXY");
    assert_eq!(proxies.http.unwrap().variable, "all_proxy");
    assert_eq!(proxies.none_for, "x");
    assert_eq!(models.provider("openai").unwrap().proxies.https, None);
}

#[test]
fn limits_and_prices_are_read() {
    let place = Place::new();
    place.user(
        "[providers.vllm]\ntimeout_seconds = 5\ntries = 0\n[roles.solver]\nmodel = \"m@vllm\"\nmax_tokens = 7\n\
         tools = \"text\"\nprice_input = 2.0\nprice_output = 8.0\n",
    );
    let solver = place.solver(&[]).unwrap();
    assert_eq!(solver.provider.timeout.as_secs(), 5);
    assert_eq!(solver.provider.patience.tries, 1);
    assert_eq!((solver.max_tokens, solver.native_tools), (7, Some(false)));
    let price = solver.price.unwrap();
    assert!((price.cached - 2.0).abs() < f64::EPSILON);
}

#[test]
fn a_name_with_an_at_that_is_no_provider_s_is_a_model_s() {
    let place = Place::new();
    let solver = place.solver(&[("SOLVE_MODEL", "claude@20240229")]).unwrap();
    assert_eq!(
        (solver.model.as_str(), solver.provider.name.as_str()),
        ("claude@20240229", "taotoken")
    );
}

/// Rewritten by `UPDATE_EXPECT=1`.
#[test]
#[allow(clippy::disallowed_methods, reason = "a test may read the environment")]
fn the_published_schema_and_example_are_those_of_the_code() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/config");
    let text = format!("{}\n", serde_json::to_string_pretty(&super::schema()).unwrap());
    let published = dir.join("ssr-mcp.schema.json");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&published, &text).unwrap();
    }
    let known = fs::read_to_string(&published).unwrap_or_default();
    assert!(known == text, "run with UPDATE_EXPECT=1 and read the difference");
    let place = Place::new();
    place.user(&fs::read_to_string(dir.join("ssr-mcp.toml")).unwrap());
    let models = place.models(&[]).unwrap();
    assert_eq!(models.warnings, Vec::<String>::new());
    assert_eq!(models.players(), [Player::Injector, Player::Solver]);
}
