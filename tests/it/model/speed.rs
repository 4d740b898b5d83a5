//! What our side costs.

use super::*;

#[test]
fn two_hundred_at_once_are_answered_and_cost_little() {
    let server = Endpoint::saying([said(200, completion("hi"))]);
    let client = client(provider(&server.url()));
    ask(&client).unwrap();
    let before = resident();
    std::thread::scope(|scope| {
        for _ in 0..200 {
            let client = client.clone();
            scope.spawn(move || {
                for _ in 0..5 {
                    assert_eq!(ask(&client).unwrap().message.content, "hi");
                }
            });
        }
    });
    let grown = resident().saturating_sub(before);
    // The server's own threads are in it.
    assert!(grown < 200 * (5 << 20), "{grown} bytes for 200");
    assert_eq!(server.seen().len(), 1001);
}

fn resident() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap();
    let pages: u64 = statm.split(' ').nth(1).unwrap().parse().unwrap();
    pages * 4096
}
