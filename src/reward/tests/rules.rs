//! The three schemes, each apart, against the numbers of their papers.

use crate::reward::*;
use proptest::prelude::*;

fn shown(rate: Option<f64>) -> Shown {
    Shown { validity: Validity::WHOLE, solve_rate: rate, novelty: None }
}

#[track_caller]
fn check(rule: &Rule, shown: Shown, expect: f64) {
    let reward = rule.injector(&shown).expect("parameters in range");
    assert!((reward - expect).abs() < 1e-12, "{shown:?}: {reward}, not {expect}");
}

#[test]
fn every_scheme_has_a_name_and_comes_by_it() {
    for name in Rule::NAMES {
        assert_eq!(Rule::from_name(name).map(|rule| rule.name()), Some(name));
    }
    assert_eq!(Rule::from_name("none"), None);
    assert_eq!(Rule::default(), Rule::Ssr(Scheme::default()));
}

#[test]
fn ssr_pays_by_the_solve_rate_alone() {
    let rule = Rule::default();
    check(&rule, shown(Some(0.25)), 0.55);
    check(&rule, Shown { novelty: Some(0.0), ..shown(Some(0.25)) }, 0.55);
    check(&rule, shown(Some(0.0)), -0.8);
    check(&rule, shown(None), -1.0);
}

#[test]
fn azr_pays_what_is_learned_and_nothing_where_all_or_none_solve() {
    let rule = Rule::from_name("azr").unwrap();
    check(&rule, shown(Some(0.0)), 0.0);
    check(&rule, shown(Some(0.125)), 0.875);
    check(&rule, shown(Some(0.875)), 0.125);
    check(&rule, shown(Some(1.0)), 0.0);
    check(&rule, shown(None), -1.0);
    let as_in_its_code = Rule::Azr(Learnability { flat: -0.5, invalid: -1.0 });
    check(&as_in_its_code, shown(Some(1.0)), -0.5);
    check(&as_in_its_code, shown(Some(0.5)), 0.5);
}

#[test]
fn ornith_pays_most_at_its_target_and_nothing_where_nobody_solved() {
    let gaussian = Rule::from_name("ornith").unwrap();
    check(&gaussian, shown(Some(0.2)), 1.0);
    check(&gaussian, shown(Some(0.5)), (-0.5_f64).exp());
    check(&gaussian, shown(Some(0.0)), 0.0);
    let linear = Rule::Ornith(Frontier { shape: Shape::Linear, ..Frontier::default() });
    check(&linear, shown(Some(0.2)), 1.0);
    check(&linear, shown(Some(0.6)), 0.5);
    check(&linear, shown(Some(1.0)), 0.0);
    check(&linear, shown(Some(0.0)), 0.0);
}

#[test]
fn without_the_gate_a_bug_that_nobody_solves_would_pay_more_than_one_that_half_do() {
    let frontier = Frontier::default();
    let just_above = frontier.difficulty(1e-12).unwrap();
    assert!((just_above - 0.800_737_402_916_808).abs() < 1e-9, "{just_above}");
    assert!(just_above > frontier.difficulty(0.5).unwrap());
    let linear = Frontier { shape: Shape::Linear, ..frontier };
    assert!((linear.difficulty(1e-12).unwrap() - 0.75).abs() < 1e-9);
}

#[test]
fn ornith_wants_all_three_conditions() {
    let rule = Rule::from_name("ornith").unwrap();
    for lacking in 0..8_u8 {
        let validity = Validity {
            runs: lacking & 1 == 0,
            right_passes: lacking & 2 == 0,
            wrong_fails: lacking & 4 == 0,
        };
        let reward = rule.injector(&Shown { validity, ..shown(Some(0.2)) }).unwrap();
        assert_eq!(reward > 0.0, lacking == 0, "{validity:?}");
    }
}

#[test]
fn ornith_pays_for_novelty_down_to_a_floor() {
    let novel = |novelty| Shown { novelty, ..shown(Some(0.2)) };
    let rule = Rule::from_name("ornith").unwrap();
    check(&rule, novel(Some(0.25)), 0.25);
    check(&rule, novel(Some(0.0)), 0.0);
    check(&rule, novel(None), 1.0);
    let floored = Rule::Ornith(Frontier { floor: 0.4, ..Frontier::default() });
    check(&floored, novel(Some(0.0)), 0.4);
    check(&floored, novel(Some(0.5)), 0.7);
    check(&floored, novel(Some(1.0)), 1.0);
}

#[test]
fn parameters_that_mean_nothing_are_refused_by_name() {
    #[track_caller]
    fn check(rule: Rule, shown: Shown, expect: &str) {
        match rule.injector(&shown) {
            Err(Refusal::Parameter { name, .. }) => assert_eq!(name, expect),
            other => panic!("{other:?}"),
        }
    }
    let usual = Frontier::default();
    for target in [0.0, 1.0, f64::NAN] {
        check(Rule::Ornith(Frontier { target, ..usual }), shown(Some(0.5)), "target");
    }
    for sigma in [0.0, -1.0, f64::INFINITY, f64::NAN] {
        let shape = Shape::Gaussian { sigma };
        check(Rule::Ornith(Frontier { shape, ..usual }), shown(Some(0.5)), "sigma");
    }
    check(Rule::Ornith(Frontier { floor: 1.1, ..usual }), shown(Some(0.5)), "floor");
    let novelty = Some(f64::NAN);
    check(Rule::Ornith(usual), Shown { novelty, ..shown(Some(0.5)) }, "novelty");
    let flat = f64::INFINITY;
    check(Rule::Azr(Learnability { flat, invalid: -1.0 }), shown(None), "flat");
    for name in Rule::NAMES {
        let rule = Rule::from_name(name).unwrap();
        assert_eq!(rule.injector(&shown(Some(1.5))), Err(Refusal::SolveRate(1.5)), "{name}");
    }
}

#[test]
fn a_repair_pays_more_the_fewer_runs_it_took() {
    let paid = [1, 2, 20, 21].map(|at| solver_by_runs(Some(at), 20));
    for (paid, expect) in paid.into_iter().zip([1.0, 0.975, 0.525, 0.0]) {
        assert!((paid - expect).abs() < 1e-12, "{paid}");
    }
    assert_eq!(solver_by_runs(None, 20).to_bits(), 0.0_f64.to_bits());
    assert_eq!(solver_by_runs(Some(1), 0).to_bits(), 0.0_f64.to_bits());
}

proptest! {
    #[test]
    fn ornith_stays_between_zero_and_one(rate in 0.0..=1.0, novelty in 0.0..=1.0, floor in 0.0..=1.0) {
        for shape in [Shape::Linear, Shape::Gaussian { sigma: 0.3 }] {
            let rule = Rule::Ornith(Frontier { target: 0.2, shape, floor });
            let shown = Shown { novelty: Some(novelty), ..shown(Some(rate)) };
            let reward = rule.injector(&shown).unwrap();
            prop_assert!((0.0..=1.0).contains(&reward), "{reward}");
        }
    }
}
