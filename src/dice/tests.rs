//! The stream is part of the contract: the same seed gives the same choices in every version.

use super::*;

fn rolls(mut dice: Dice, count: usize) -> Vec<u64> {
    (0..count).map(|_| dice.roll()).collect()
}

#[test]
fn the_stream_is_splitmix64() {
    // The reference implementation's outputs for this seed.
    let expect = [
        6_457_827_717_110_365_317,
        3_203_168_211_198_807_973,
        9_817_491_932_198_370_423,
        4_593_380_528_125_082_431,
        16_408_922_859_458_223_821,
    ];
    assert_eq!(rolls(Dice::new(1_234_567), 5), expect);
}

#[test]
fn a_fork_depends_on_seed_and_label_alone() {
    let mut used = Dice::new(7);
    let fresh = used.fork("inject");
    assert_eq!(rolls(fresh.clone(), 3), rolls(Dice::new(7).fork("inject"), 3));
    assert_ne!(rolls(fresh.clone(), 3), rolls(Dice::new(7).fork("solve"), 3));
    assert_ne!(rolls(fresh.clone(), 3), rolls(Dice::new(8).fork("inject"), 3));
    assert_ne!(rolls(fresh, 3), rolls(Dice::new(7), 3));
    used.roll();
    assert_eq!(rolls(used.clone(), 1), rolls(used, 1));
}

#[test]
fn the_streams_of_forks_are_fixed() {
    assert_eq!(Dice::new(0).fork("").roll(), 487_617_019_471_545_679);
}

#[test]
fn numbers_below_a_bound_cover_it_evenly() {
    let mut dice = Dice::new(1);
    let mut counts = [0_u32; 7];
    for _ in 0..7000 {
        counts[dice.below(7)] += 1;
    }
    assert!(counts.iter().all(|count| (850..1150).contains(count)), "{counts:?}");
    assert_eq!((dice.below(0), dice.below(1)), (0, 0));
}

#[test]
fn units_lie_in_zero_to_one_and_cover_it_evenly() {
    let mut dice = Dice::new(2);
    let units: Vec<f64> = (0..4000).map(|_| dice.unit()).collect();
    assert!(units.iter().all(|unit| (0.0..1.0).contains(unit)));
    let mean = units.iter().sum::<f64>() / 4000.0;
    assert!((mean - 0.5).abs() < 0.02, "{mean}");
}

#[test]
fn nothing_is_picked_from_nothing() {
    let mut dice = Dice::new(3);
    assert_eq!(dice.pick::<u8>(&[]), None);
    assert_eq!(dice.pick(&[5]), Some(&5));
    let picked: std::collections::BTreeSet<_> =
        (0..60).filter_map(|_| dice.pick(&[1, 2, 3])).collect();
    assert_eq!(picked.len(), 3);
}

#[test]
fn a_shuffle_keeps_the_items_and_reaches_every_order() {
    let mut dice = Dice::new(4);
    let mut orders = std::collections::BTreeMap::new();
    for _ in 0..6000 {
        let mut items = [1, 2, 3];
        dice.shuffle(&mut items);
        *orders.entry(items).or_insert(0_u32) += 1;
    }
    assert_eq!(orders.len(), 6);
    assert!(orders.values().all(|count| (850..1150).contains(count)), "{orders:?}");
    let mut empty: [u8; 0] = [];
    dice.shuffle(&mut empty);
}
