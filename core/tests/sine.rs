//! Sines of arguments of any size, and the order of real numbers.

use antwarp_core::sine::{Real, double_sine_of_turns, unit_sine_of_turns};
use proptest::prelude::*;

const ERROR_SINGLE: f64 = 2e-7;
const ERROR_DOUBLE: f64 = 4e-16;

// The sines are from mpmath, with 2400 bits. Behind arguments of all sizes come the one that lies nearest to a multiple
// of π/2, common ones, and the largest.

/// Arguments and their sines.
const SINGLE: [(f32, f64); 45] = [
    (1.056459e-9, 1.0564590313677513e-9),
    (-1.3764454e-8, -1.3764453576925462e-8),
    (2.1025832e-7, 2.1025832097620722e-7),
    (-1.1969271e-6, -1.1969270872211252e-6),
    (1.14092645e-5, 1.1409264516012483e-5),
    (-1.7693982e-4, -1.769398213444778e-4),
    (1.6128838e-3, 1.6128830603715715e-3),
    (-1.3974401e-2, -1.3973946343734086e-2),
    (1.3673244e-1, 1.3630678940294635e-1),
    (-1.0283475, -8.564470768801331e-1),
    (1.4686121e1, 8.530707625308671e-1),
    (-1.8339418e2, -9.252926021770839e-1),
    (1.8045748e3, 9.637307728542971e-1),
    (-8.209253e3, 2.6800902461738324e-1),
    (1.894498e5, -7.218743973090055e-1),
    (-1.8051655e6, -7.798274103092431e-2),
    (1.0307605e7, 9.728246167270317e-1),
    (-2.6108981e8, 2.1270631678550125e-1),
    (2.0416422e9, -1.3287049489567412e-1),
    (-8.8527e9, -8.893252812951561e-1),
    (1.409362e11, 7.929521642764851e-1),
    (-1.694801e12, 2.505489804883513e-1),
    (1.7056936e13, -6.51451761786351e-1),
    (-1.9438722e14, 9.972548555844795e-1),
    (1.3697691e15, -5.843022154453311e-1),
    (-1.2809287e16, 5.72468331927434e-1),
    (1.4830041e17, 9.338850033562648e-1),
    (-1.4085145e18, -2.2752881722575218e-2),
    (1.3262172e19, 9.373428049169508e-1),
    (-2.2074293e20, -9.16101178751794e-2),
    (1.4557692e21, 8.836840874351467e-1),
    (-1.1625206e22, 6.09755322649187e-2),
    (1.8417698e23, 5.172452278457419e-1),
    (-1.7645523e24, -9.205149097419019e-1),
    (1.2474002e25, -9.547693104642817e-2),
    (-1.5806788e26, -7.830320218587035e-1),
    (2.2748113e27, -9.859185850353466e-1),
    (-1.5414377e28, -7.190266389129302e-1),
    (2.6023194e29, 4.889962240975381e-1),
    (-1.5033148e30, 7.649639739203384e-2),
    (7.729179e28, 1.0),
    (std::f32::consts::PI, -8.742278000372475e-8),
    (-std::f32::consts::FRAC_PI_2, -9.99999999999999e-1),
    (1e5, 3.574879797201651e-2),
    (3.4028235e38, -5.218765233336585e-1),
];

/// Arguments and their sines.
const DOUBLE: [(f64, f64); 45] = [
    (1.8557006606609237e-9, 1.8557006606609237e-9),
    (-1.1624665804970562e-1, -1.1598502251014838e-1),
    (9.402706483946666e6, 9.764108502995698e-1),
    (-7.502406925232915e14, 6.139083968034087e-1),
    (1.3007168427446293e23, -7.751213068035459e-1),
    (-8.676773095839309e30, 6.705811913170857e-1),
    (6.589365862778911e38, -9.093419858331273e-2),
    (-6.495036590322959e46, 6.944801835281066e-2),
    (5.609043079136643e54, -9.97931472442531e-1),
    (-6.871238554133331e62, 7.017715771473604e-1),
    (3.5982075435412485e70, -4.812773239175323e-1),
    (-5.882536806976242e78, 6.503866874920492e-1),
    (4.6810027458358046e86, -9.54419031275407e-3),
    (-3.0808232433699437e94, 9.991807935483128e-1),
    (3.371451522628477e102, 9.968047286275031e-1),
    (-2.3883772588773085e110, -1.674170407791581e-1),
    (2.087034530301609e118, 2.868083405691638e-1),
    (-1.6824743468336754e126, -7.184321012644256e-1),
    (1.6330287629198433e134, -1.1711771574973684e-1),
    (-1.7246612019565646e142, -9.056707100841508e-1),
    (9.59927852830381e149, 6.535947067491283e-1),
    (-1.7011504181104928e158, 7.446630833508382e-1),
    (1.2553148132763939e166, 8.414249402762425e-1),
    (-8.283025054383309e173, 8.766694716832129e-1),
    (9.126962537854852e181, -9.777632893713271e-1),
    (-6.411305652456208e189, -6.870559002531502e-1),
    (9.020514341603149e197, -8.49372144646498e-1),
    (-7.137184027104064e205, 4.174767201224144e-1),
    (4.0961755005599117e213, -9.731232658329939e-1),
    (-5.036251950362007e221, -7.127533450516688e-1),
    (3.6137127226574876e229, 6.502357975574192e-1),
    (-3.3521585544253376e237, -1.9501306731397525e-2),
    (2.279993610280638e245, 9.788602004988848e-1),
    (-4.99537878753039e253, -5.987811831952972e-1),
    (3.9030135619272456e261, -4.042622499711653e-1),
    (-2.1041756296352566e269, -2.3505178773420313e-1),
    (2.4703816143194364e277, -7.396007597367207e-1),
    (-1.3922632356382334e285, -1.8916524448587363e-1),
    (2.3985826155670995e293, 5.639974336190497e-1),
    (-2.1238121772253547e301, -9.123843367066382e-1),
    (5.319372648326541e255, 1.0),
    (std::f64::consts::PI, 1.2246467991473532e-16),
    (-std::f64::consts::FRAC_PI_2, -1.0),
    (1e22, -8.522008497671888e-1),
    (1.7976931348623157e308, 4.961954789184062e-3),
];
#[test]
fn sines_agree_with_the_reference() {
    for (x, sine) in SINGLE {
        assert!((x.sine() as f64 - sine).abs() < ERROR_SINGLE, "{x}: {} for {sine}", x.sine());
    }
    for (x, sine) in DOUBLE {
        assert!((x.sine() - sine).abs() < ERROR_DOUBLE, "{x}: {} for {sine}", x.sine());
    }
}

#[test]
fn sines_of_both_precisions_agree() {
    // Double precision has the argument exactly, whatever its size.
    for bits in (0..f32::INFINITY.to_bits()).step_by(4_001) {
        let x = f32::from_bits(bits);
        assert!((x.sine() as f64 - x.to_f64().sine()).abs() < ERROR_SINGLE, "{x}");
    }
}

#[test]
fn sines_of_phases_have_small_errors_and_stay_within_bounds() {
    for phase in (0..=u32::MAX).step_by(1_009).chain((1 << 30) - 1000..(1 << 30) + 1000) {
        let sine = unit_sine_of_turns(phase);
        let exact = (phase as i32 as f64 * (std::f64::consts::TAU / 4_294_967_296.0)).sin();
        assert!((sine as f64 - exact).abs() < ERROR_SINGLE && sine.abs() <= 1.0, "{phase}");
        assert_eq!(unit_sine_of_turns(phase.wrapping_neg()), -sine);
        let wide = double_sine_of_turns((phase as u64) << 32);
        // The angle's own rounding adds to the reference's error.
        assert!((wide - exact).abs() < 2.0 * ERROR_DOUBLE && wide.abs() <= 1.0, "{phase}");
        assert_eq!(double_sine_of_turns((phase as u64).wrapping_neg() << 32), -wide);
    }
    let quarters = [0, 1, 2, 3].map(|quarter| unit_sine_of_turns(quarter << 30));
    assert_eq!(quarters, [0.0, 1.0, 0.0, -1.0]);
    let quarters = [0, 1, 2, 3].map(|quarter| double_sine_of_turns(quarter << 62));
    assert_eq!(quarters, [0.0, 1.0, 0.0, -1.0]);
}

#[test]
fn sines_never_change_their_bits() {
    // What every machine has to give: a digest of this implementation's own, over all sizes.
    let (mut single, mut double) = (0u64, 0u64);
    for k in 0..100_000u32 {
        let x = f32::from_bits(k * 21_391);
        single = single.rotate_left(5) ^ x.sine().to_bits64();
        double = double.rotate_left(5) ^ f64::from_bits(k as u64 * 92_000_000_000_017).sine().to_bits64();
    }
    assert_eq!((single, double), (15_988_826_642_189_563_528, 12_811_089_878_374_043_319));
}

#[test]
fn odd_arguments_do_no_harm() {
    assert_eq!((0f32.sine(), 0f64.sine()), (0.0, 0.0));
    assert_eq!((f32::MIN_POSITIVE.sine(), f64::MIN_POSITIVE.sine()), (0.0, 0.0));
    for bits in (f32::INFINITY.to_bits()..1 << 31).step_by(9_973) {
        assert!(f32::from_bits(bits).sine().abs() <= 1.0);
        assert!(f64::from_bits((bits as u64) << 32 | 0x7ff0 << 48).sine().abs() <= 1.0);
    }
}

#[test]
fn keys_are_in_the_order_of_numbers() {
    let mut numbers = vec![f64::MIN, -1e300, -2.0, -1.0, -1e-300, -5e-324, 0.0, 5e-324, 1.0, 1.5, f64::MAX];
    assert!(numbers.windows(2).all(|w| w[0].key() < w[1].key()));
    assert_eq!((-0.0f64).key(), 0.0f64.key());
    numbers.retain(|x| x.abs() < 1e30 && (x.abs() > 1e-30 || *x == 0.0));
    assert!(numbers.windows(2).all(|w| (w[0] as f32).key() < (w[1] as f32).key()));
    assert_eq!((-0.0f32).key(), 0.0f32.key());
}

fn constants<R: Real>() {
    assert_eq!((R::ZERO.to_f64(), R::ONE.to_f64()), (0.0, 1.0));
    assert_eq!(R::from_f64(0.5) + R::from_f64(0.5), R::ONE);
    assert_eq!(R::from_f64(6.25).sqrt().to_f64(), 2.5);
}

#[test]
fn numbers_of_both_precisions_have_their_constants() {
    constants::<f32>();
    constants::<f64>();
    assert_eq!(<f32 as Real>::sqrt(2.0), 2f32.sqrt());
    assert_eq!(<f64 as Real>::sqrt(2.0), 2f64.sqrt());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(50_000))]

    #[test]
    fn moderate_sines_agree_with_the_standard_library(x in -1e5..1e5f64, shift in 0..40) {
        let x = x / (1u64 << shift) as f64;
        // The standard library's own error is up to one unit in the last place.
        prop_assert!((x.sine() - x.sin()).abs() < ERROR_DOUBLE + 1.2e-16, "{}", x);
        let x = x as f32;
        prop_assert!((x.sine() as f64 - (x as f64).sin()).abs() < ERROR_SINGLE, "{}", x);
    }

    #[test]
    fn sines_are_odd(bits: u64) {
        let (x, y) = (f32::from_bits(bits as u32), f64::from_bits(bits));
        prop_assert_eq!((-x).sine().to_bits64(), (-x.sine()).to_bits64());
        prop_assert_eq!((-y).sine().to_bits64(), (-y.sine()).to_bits64());
        prop_assert!(x.sine().abs() <= 1.0 && y.sine().abs() <= 1.0);
    }

    #[test]
    fn keys_and_bits_are_faithful(a: u64, b: u64) {
        let (x, y) = (f64::from_bits(a), f64::from_bits(b));
        if x.is_finite() && y.is_finite() {
            prop_assert_eq!(x.key().cmp(&y.key()), x.partial_cmp(&y).unwrap());
        }
        prop_assert_eq!(f64::from_bits64(x.to_bits64()).to_bits(), a);
        let (x, y) = (f32::from_bits(a as u32), f32::from_bits(b as u32));
        if x.is_finite() && y.is_finite() {
            prop_assert_eq!(x.key().cmp(&y.key()), x.partial_cmp(&y).unwrap());
        }
        prop_assert_eq!(f32::from_bits64(x.to_bits64()).to_bits(), a as u32);
    }
}
