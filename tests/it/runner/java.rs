//! Java: recognised, told what is missing, and run by a command of the user's own.

use super::*;

const FILES: [(&str, &str); 3] = [
    ("pom.xml", "<project/>\n"),
    ("src/main/java/A.java", "class A {\n    static int one() {\n        return 1;\n    }\n}\n"),
    (
        "src/test/java/ATest.java",
        "class ATest {\n    public static void main(String[] arguments) throws Exception {\n        String told = A.one() == 1 ? \"\" : \"<failure/>\";\n        String xml = \"<testsuite><testcase classname='ATest' name='one'>\" + told + \"</testcase></testsuite>\";\n        java.nio.file.Files.writeString(java.nio.file.Path.of(\"report.xml\"), xml);\n    }\n}\n",
    ),
];

#[test]
fn a_java_project_is_told_what_is_missing() {
    let repository = Repository::with(&FILES);
    let said = detect(repository.root()).unwrap_err().to_string();
    for word in ["Java", "pom.xml", "Maven is not run", "--test-command", "--report"] {
        assert!(said.contains(word), "{said}");
    }
    let gradle = Repository::with(&[
        ("app/build.gradle.kts", ""),
        ("app/src/test/java/BTest.java", "class BTest {}\n"),
    ]);
    let said = detect(gradle.root()).unwrap_err().to_string();
    assert!(said.contains("Gradle is not run"), "{said}");
}

#[test]
fn a_command_of_the_users_own_runs_java_tests() {
    let java = Command::new("javac").arg("-version").output();
    if !java.is_ok_and(|output| output.status.success()) {
        return eprintln!("DID NOT RUN: there is no javac here");
    }
    let repository = Repository::with(&FILES);
    let root = repository.root();
    let command = "javac -d target/o $(find src -name '*.java') && java -cp target/o ATest";
    let overrides = Overrides {
        test_command: Some(command.to_owned()),
        report: Some("report.xml".to_owned()),
        ..Overrides::default()
    };
    let tree = Disk(root.to_owned());
    let runner = Runner::detect(&tree, root, &machine(), &overrides).unwrap();
    assert_eq!(runner.languages(), ["java"]);
    let files = runner.test_files(&tree);
    assert_eq!(files.iter().map(RelPath::as_str).collect::<Vec<_>>(), ["src/test/java/ATest.java"]);
    let path = std::env::var_os("PATH").unwrap();
    let ran = |text: &str| {
        std::fs::write(root.join("src/main/java/A.java"), text).unwrap();
        let script = format!(
            "export PATH={}\n{}",
            path.to_str().unwrap(),
            String::from_utf8(runner.script(&files, &[])).unwrap()
        );
        run_script(&runner, root, script.as_bytes())
    };
    check(&ran(FILES[1].1), &[("ATest::one", Outcome::Passed)]);
    check(&ran(&FILES[1].1.replace("return 1", "return 2")), &[("ATest::one", Outcome::Failed)]);
    let said = ran("class {\n").refusal();
    assert!(said.contains("wrote no report.xml"), "{said}");
}
