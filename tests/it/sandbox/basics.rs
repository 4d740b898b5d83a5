//! One command runs, and says what it should.

use super::*;

#[test]
fn true_exits_with_zero_and_false_with_one() {
    let world = World::new(&[]);
    assert_eq!(world.run(&step(&["true"])).end, End::Exited(0));
    assert_eq!(world.run(&step(&["false"])).end, End::Exited(1));
}

#[test]
fn a_command_works_in_the_tree_at_its_original_path() {
    let world = World::new(&[("a.txt", "hello")]);
    assert_eq!(world.sh("pwd; cat a.txt; echo x > b.txt; ls"), "/srv/project\nhelloa.txt\nb.txt\n");
}
