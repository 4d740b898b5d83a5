//! Every language on its samples: what is found in them, and that every edit made of them parses.

#![allow(clippy::unwrap_used, reason = "a test fails by it")]
#![allow(clippy::disallowed_methods, reason = "tests read UPDATE_EXPECT")]

use ssr_mcp::dice::Dice;
use ssr_mcp::syntax::{
    ExpressionKind, GrammarSource, Language, Languages, Parsed, StatementKind, structural,
};
use ssr_mcp::text::{Edit, apply_edits};
use ssr_mcp::tree::RelPath;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const LANGUAGES: [&str; 12] = [
    "c",
    "cpp",
    "csharp",
    "go",
    "java",
    "javascript",
    "php",
    "python",
    "ruby",
    "rust",
    "tsx",
    "typescript",
];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("grammars")
}

fn samples(language: &str) -> Vec<(String, Vec<u8>)> {
    let folder = root().join(language).join("samples");
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension != "txt"))
        .map(|path| {
            (path.file_name().unwrap().to_str().unwrap().to_owned(), std::fs::read(path).unwrap())
        })
        .collect();
    files.sort();
    files
}

fn path(text: &str) -> RelPath {
    RelPath::parse(text.as_bytes()).unwrap()
}

/// What is found in a sample, as text.
fn describe(name: &str, parsed: &Parsed, language: &Language) -> String {
    let mut text = format!("== {name}\n");
    for function in parsed.functions() {
        let parameters: Vec<_> = function.parameters.iter().map(|it| it.name.as_str()).collect();
        writeln!(
            text,
            "function {} ({}) line {}, {} statements, complexity {}, locals {:?}",
            function.qualified,
            parameters.join(", "),
            function.line,
            function.statements,
            function.complexity,
            function.locals
        )
        .unwrap();
    }
    for test in parsed.tests() {
        writeln!(text, "test {} line {}", test.qualified, parsed.line_of(test.range.start))
            .unwrap();
    }
    for assertion in parsed.assertions() {
        let within = assertion.test.map(|id| parsed.tests()[id].name.clone());
        let source = String::from_utf8_lossy(parsed.text(&assertion.range)).into_owned();
        let first = source.lines().next().unwrap_or_default();
        writeln!(text, "assertion in {}: {first}", within.as_deref().unwrap_or("-")).unwrap();
    }
    for import in parsed.imports() {
        writeln!(text, "import {} {:?}", import.module, import.names).unwrap();
    }
    let mut kinds: BTreeMap<String, usize> = BTreeMap::new();
    for statement in parsed.statements() {
        *kinds.entry(format!("statement {:?}", statement.kind)).or_default() += 1;
    }
    for expression in parsed.expressions() {
        *kinds.entry(format!("expression {:?}", expression.kind)).or_default() += 1;
    }
    for (kind, edits) in candidates(parsed, language) {
        *kinds.entry(format!("edit {kind}")).or_default() += usize::from(!edits.is_empty());
    }
    for (kind, count) in kinds {
        writeln!(text, "{kind}: {count}").unwrap();
    }
    text
}

/// Every edit that can be made of a file, with its kind.
fn candidates(parsed: &Parsed, language: &Language) -> Vec<(String, Vec<Edit>)> {
    let mutations = structural::mutations(parsed, language);
    let removals = structural::removals(parsed, language);
    let weakenings = structural::weakenings(parsed, language);
    let mutations = mutations.into_iter().map(|it| (it.operator.name().to_owned(), it.edits));
    let removals = removals.into_iter().map(|it| (format!("removal {:?}", it.what), it.edits));
    let weakenings =
        weakenings.into_iter().map(|it| (format!("weakening {:?}", it.what), it.edits));
    mutations.chain(removals).chain(weakenings).collect()
}

#[track_caller]
fn check(name: &str) {
    let languages = Languages::builtin();
    let language = languages.by_name(name).unwrap();
    language.check().unwrap();
    let mut found = String::new();
    for (file, source) in samples(name) {
        let by_path = languages.for_path(&path(&file)).unwrap();
        assert_eq!(by_path.name(), name, "{file}");
        let parsed = language.parse(source);
        assert_eq!(parsed.syntax_errors(), 0, "{name}/{file}");
        found.push_str(&describe(&file, &parsed, language));
    }
    let expected = root().join(name).join("samples/expected.txt");
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(&expected, &found).unwrap();
    }
    let known = std::fs::read_to_string(&expected).unwrap_or_default();
    assert!(
        known == found,
        "{} differs; look at it, then run with UPDATE_EXPECT=1\n{found}",
        expected.display()
    );
}

#[track_caller]
fn check_edits(name: &str) {
    let languages = Languages::builtin();
    let language = languages.by_name(name).unwrap();
    let mut offenders = Vec::new();
    let mut total = 0;
    for (file, source) in samples(name) {
        let parsed = language.parse(source.clone());
        for (kind, edits) in candidates(&parsed, language) {
            total += 1;
            let edited = apply_edits(&source, &edits).unwrap();
            assert_ne!(edited, source, "{file}: {kind} changes nothing: {edits:?}");
            let errors = language.syntax_errors(&edited);
            if errors > 0 {
                let places: Vec<_> = edits
                    .iter()
                    .map(|edit| {
                        let line = parsed.line_of(edit.range.start);
                        let old = String::from_utf8_lossy(parsed.text(&edit.range)).into_owned();
                        format!(
                            "line {line}: {old:?} to {:?}",
                            String::from_utf8_lossy(&edit.replacement)
                        )
                    })
                    .collect();
                offenders.push(format!("{file}: {kind}: {}", places.join("; ")));
            }
        }
    }
    assert!(total > 20, "{name}: only {total} edits");
    assert!(
        offenders.len() * 100 <= total,
        "{name}: {} of {total} edits do not parse:\n{}",
        offenders.len(),
        offenders.join("\n")
    );
}

macro_rules! languages {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn finds_what_its_samples_hold() {
                super::check(stringify!($name));
            }
            #[test]
            fn makes_edits_that_parse() {
                super::check_edits(stringify!($name));
            }
        }
    )*};
}

languages!(c cpp csharp go java javascript php python ruby rust tsx typescript);

#[test]
fn all_languages_are_there() {
    let languages = Languages::builtin();
    let names: Vec<&str> = languages.iter().map(Language::name).collect();
    assert_eq!(names, LANGUAGES);
}

#[test]
fn test_files_are_known_by_their_path() {
    let languages = Languages::builtin();
    let is_test = |text: &str| languages.for_path(&path(text)).unwrap().is_test_path(&path(text));
    for test in [
        "tests/test_a.py",
        "a/b/test_c.py",
        "pkg/thing_test.py",
        "tests/helper.py",
        "conftest.py",
        "tests/it/main.rs",
        "src/diff/tests.rs",
        "ring_test.go",
        "src/test/java/A.java",
        "a/queue.test.js",
        "queue.spec.ts",
        "__tests__/a.jsx",
        "spec/cart_spec.rb",
        "tests/BasketTest.php",
        "Shop.Tests/StockTests.cs",
        "test/a.c",
    ] {
        assert!(is_test(test), "{test}");
    }
    for code in [
        "src/testing.py",
        "attest.py",
        "contest_a.py",
        "src/lib.rs",
        "ring.go",
        "latest.js",
        "src/main/java/A.java",
    ] {
        assert!(!is_test(code), "{code}");
    }
}

/// The sample with these weakenings of it made.
fn weakened(file: &str, choose: impl Fn(&structural::Weakening) -> bool) -> String {
    let languages = Languages::builtin();
    let language = languages.for_path(&path(file.rsplit('/').next().unwrap())).unwrap();
    let source = std::fs::read(root().join(file)).unwrap();
    let parsed = language.parse(source.clone());
    let all = structural::weakenings(&parsed, language);
    let chosen: Vec<_> = all.iter().filter(|it| choose(it)).collect();
    assert!(!chosen.is_empty());
    let edited = apply_edits(&source, &structural::merge(&parsed, language, &chosen)).unwrap();
    assert_eq!(language.syntax_errors(&edited), 0);
    String::from_utf8(edited).unwrap()
}

#[test]
fn weakening_away_every_assertion_leaves_none_and_no_trace() {
    let is_assertion = |it: &structural::Weakening| it.what == structural::WeakeningKind::Assertion;
    for (file, words) in [
        ("python/samples/test_ledger.py", &["assert ", "self.assert", "raises"][..]),
        ("rust/samples/version.rs", &["assert!", "assert_eq!", "assert_ne!"]),
        ("javascript/samples/queue.test.js", &["expect(", "assert."]),
        ("java/samples/AccountTest.java", &["assertTrue(", "assertThrows(", "assertFalse("]),
        ("go/samples/ring_test.go", &["t.Errorf", "t.Fatal", "require."]),
        ("ruby/samples/test_cart.rb", &["assert ", "refute ", "expect("]),
        ("php/samples/BasketTest.php", &["assertTrue(", "assertSame(", "expectException"]),
        ("csharp/samples/StockTests.cs", &["Assert."]),
        ("c/samples/test_buffer.c", &["assert(", "TEST_ASSERT"]),
        ("cpp/samples/matrix_test.cpp", &["EXPECT_", "ASSERT_"]),
    ] {
        let left = weakened(file, is_assertion);
        for word in words {
            assert!(!left.contains(word), "{file} still holds {word}:\n{left}");
        }
        assert!(!left.contains("\n\n\n\n"), "{file}:\n{left}");
    }
}

#[test]
fn a_test_with_its_only_assertion_gone_passes_by_an_empty_statement() {
    let left = weakened("python/samples/test_ledger.py", |it| {
        it.name == "test_only_assertion" && it.what == structural::WeakeningKind::Assertion
    });
    assert!(left.contains("def test_only_assertion():\n    pass\n\n\n# Refuses"), "{left}");
}

#[test]
fn a_deleted_test_takes_its_decorators_and_comments_along() {
    let is = |name: &'static str| {
        move |it: &structural::Weakening| {
            it.name == name && it.what == structural::WeakeningKind::Test
        }
    };
    let left = weakened("python/samples/test_ledger.py", is("test_split"));
    assert!(left.contains("== total\n\n\ndef test_only_assertion"), "{left}");
    let left = weakened("python/samples/test_ledger.py", is("test_refuses"));
    assert!(left.contains("opening == 3\n\n\nclass TestMoves"), "{left}");
    let left = weakened("rust/samples/version.rs", is("tests::refuses"));
    assert!(left.contains("\"2.0\");\n    }\n\n    #[test]\n    fn counts()"), "{left}");
}

#[test]
fn a_class_whose_tests_are_all_deleted_holds_an_empty_statement() {
    let left = weakened("python/samples/test_ledger.py", |it| it.name.starts_with("TestFee"));
    assert!(left.ends_with("class TestFee:\n    pass\n"), "{left}");
}

#[test]
fn crlf_files_keep_their_line_ends() {
    let left = weakened("python/samples/test_crlf.py", |_| true);
    assert_eq!(left.matches('\n').count(), left.matches("\r\n").count(), "{left:?}");
    let languages = Languages::builtin();
    let language = languages.by_name("python").unwrap();
    let source = std::fs::read(root().join("python/samples/test_crlf.py")).unwrap();
    let parsed = language.parse(source.clone());
    let early = structural::mutations(&parsed, language);
    let early = early.iter().filter(|it| it.operator == structural::Operator::EarlyReturn);
    for mutation in early {
        let edited = apply_edits(&source, &mutation.edits).unwrap();
        let edited = String::from_utf8(edited).unwrap();
        assert_eq!(edited.matches('\n').count(), edited.matches("\r\n").count());
    }
}

#[test]
fn latin1_files_are_edited_as_bytes() {
    let languages = Languages::builtin();
    let language = languages.by_name("python").unwrap();
    let source = std::fs::read(root().join("python/samples/latin1.py")).unwrap();
    assert!(std::str::from_utf8(&source).is_err());
    let parsed = language.parse(source.clone());
    let mutations = structural::mutations(&parsed, language);
    assert!(mutations.len() > 5);
    for mutation in mutations {
        let edited = apply_edits(&source, &mutation.edits).unwrap();
        let first = &mutation.edits[0].range;
        assert_eq!(edited[..first.start], source[..first.start]);
    }
}

#[test]
fn the_same_file_gives_the_same_edits() {
    let languages = Languages::builtin();
    let language = languages.by_name("python").unwrap();
    let source = std::fs::read(root().join("python/samples/ledger.py")).unwrap();
    let once = candidates(&language.parse(source.clone()), language);
    let twice =
        candidates(&Languages::builtin().by_name("python").unwrap().parse(source), language);
    assert_eq!(once, twice);
}

#[test]
fn docstrings_and_comments_are_no_sites() {
    let languages = Languages::builtin();
    let language = languages.by_name("python").unwrap();
    let source = &b"def f():\n    \"\"\"Is 1 < 2?\"\"\"\n    # 3 < 4\n    return 5\n"[..];
    let parsed = language.parse(source);
    assert!(parsed.expressions().iter().all(|it| it.kind == ExpressionKind::Integer));
    assert_eq!(parsed.statements()[1].kind, StatementKind::Docstring);
}

fn user(
    folder: &str,
    toml: Option<&str>,
    query: Option<(&str, &str)>,
) -> Result<Languages, String> {
    let queries =
        query.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect();
    let source =
        GrammarSource { folder: folder.to_owned(), grammar_toml: toml.map(str::to_owned), queries };
    Languages::from_sources(&[source]).map_err(|error| error.to_string())
}

#[test]
fn a_users_operator_table_is_laid_over_the_built_in_one() {
    let languages =
        user("u/python", Some("[operators.arithmetic]\n\"+\" = [\"**\"]\n"), None).unwrap();
    let python = languages.by_name("python").unwrap();
    assert_eq!(python.swaps_in("arithmetic", "+"), ["**"]);
    assert_eq!(python.swaps_in("arithmetic", "-"), ["+"]);
}

#[test]
fn a_users_query_comes_before_the_built_in_one() {
    let query = "((call function: (identifier) @_f) @expression.other (#eq? @_f \"secret\"))";
    let languages = user("u/python", None, Some(("sites", query))).unwrap();
    let parsed = languages.by_name("python").unwrap().parse(&b"x = secret(1)\n"[..]);
    assert_eq!(parsed.expressions()[1].kind, ExpressionKind::Other);
}

#[test]
fn a_users_new_language_inherits() {
    let toml = "name = \"starlark\"\ninherits = \"python\"\nextensions = [\"bzl\"]\n";
    let languages = user("u/starlark", Some(toml), None).unwrap();
    let language = languages.for_path(&path("rules.bzl")).unwrap();
    assert_eq!(language.parse(&b"def f(): pass\n"[..]).functions()[0].name, "f");
}

#[test]
fn what_is_wrong_with_a_grammar_is_told_with_its_file_and_line() {
    let error =
        user("u/python", None, Some(("sites", "(identifier) @skip\n(no_such_node) @skip\n")))
            .err()
            .unwrap();
    assert!(error.starts_with("u/python/queries/sites.scm, line 2, column"), "{error}");
    let error =
        user("u/python", None, Some(("sites", "\n(identifier) @nonsense\n"))).err().unwrap();
    assert!(
        error.starts_with("u/python/queries/sites.scm, line 2: the capture `@nonsense`"),
        "{error}"
    );
    let error = user("u/python", Some("\nname = \n"), None).err().unwrap();
    assert!(error.contains("u/python/grammar.toml") && error.contains("line 2"), "{error}");
    let error = user("u/python", Some("typed = \"yes\"\n"), None).err().unwrap();
    assert!(error.contains("u/python/grammar.toml") && error.contains("typed"), "{error}");
    let error =
        user("u/x", Some("name = \"x\"\ninherits = \"python\"\ngrammar = \"cobol\"\n"), None)
            .err()
            .unwrap();
    assert!(error.contains("`cobol` is not built in"), "{error}");
    let error = user("u/y", None, None).err().unwrap();
    assert!(error.starts_with("u/y/grammar.toml"), "{error}");
}

#[test]
fn any_statements_deleted_together_leave_a_file_that_parses() {
    let languages = Languages::builtin();
    let mut offenders = Vec::new();
    for name in LANGUAGES {
        let language = languages.by_name(name).unwrap();
        for (file, source) in samples(name) {
            let parsed = language.parse(source.clone());
            let mut dice = Dice::new(7).fork(&file);
            let removable: Vec<usize> = (0..parsed.statements().len())
                .filter(|id| parsed.statements()[*id].block.is_some())
                .collect();
            for _ in 0..40 {
                let count = 1 + dice.below(removable.len().max(2) / 2);
                let chosen: Vec<usize> =
                    (0..count).filter_map(|_| dice.pick(&removable).copied()).collect();
                let edits = structural::delete(&parsed, language, &chosen);
                let edited = apply_edits(&source, &edits).unwrap();
                if language.syntax_errors(&edited) > 0 {
                    offenders
                        .push(format!("{file} {chosen:?}:\n{}", String::from_utf8_lossy(&edited)));
                }
            }
        }
    }
    assert!(offenders.is_empty(), "{} times, first\n{}", offenders.len(), offenders[0]);
}

#[test]
fn broken_files_are_read_without_a_panic() {
    let languages = Languages::builtin();
    for name in ["python", "rust", "javascript", "c", "go"] {
        let language = languages.by_name(name).unwrap();
        for (file, source) in samples(name) {
            let mut dice = Dice::new(3).fork(&file);
            for _ in 0..15 {
                let mut broken = source.clone();
                for _ in 0..dice.below(9) {
                    let at = dice.below(broken.len());
                    broken[at] = [b'(', b'"', 0xe9, b'\n', 0, b'}', b'\t'][dice.below(7)];
                }
                broken.truncate(dice.below(broken.len() + 1));
                let parsed = language.parse(broken.clone());
                for (kind, edits) in candidates(&parsed, language) {
                    assert!(apply_edits(&broken, &edits).is_ok(), "{file}: {kind}: {edits:?}");
                }
                for at in 0..broken.len() {
                    parsed.function_at(at);
                }
            }
        }
    }
}

#[test]
fn tests_inside_a_code_file_are_no_code() {
    let languages = Languages::builtin();
    let language = languages.by_name("rust").unwrap();
    let source = std::fs::read(root().join("rust/samples/version.rs")).unwrap();
    let tests = source.windows(9).position(|text| text == b"mod tests").unwrap();
    let parsed = language.parse(source);
    let edits = structural::mutations(&parsed, language).into_iter().map(|it| it.edits);
    let removed = structural::removals(&parsed, language).into_iter().map(|it| it.edits);
    let all: Vec<_> = edits.chain(removed).flatten().collect();
    assert!(all.len() > 100);
    assert!(all.iter().all(|edit| edit.range.end < tests));
}
