#!/usr/bin/env python3
"""Computes the polynomials of src/math and prints src/math/coefficients.rs.

    python3 math-coefficients.py > src/math/coefficients.rs       (needs mpmath)

Each polynomial is a minimax approximation with a weight, found by the exchange algorithm of Remez: solve for coefficients whose error
alternates in sign with equal size at n + 1 points, move the points to the extrema of the error, repeat. The coefficients are then rounded to
the type one by one, lowest power first. After each rounding the others are fitted again, so that they absorb part of the rounding error.
"""

import struct
import sys

from mpmath import acosh, asin, atan, cos, erf, erfc, exp, expm1, floor, frexp, ldexp, log, lu_solve, matrix, mp, mpf, pi, sin, sinh, sqrt, tan, tanh

mp.prec = 240
BITS = {"f32": 24, "f64": 53, "f64hi": 21}


def rounded(value, kind):
    """The nearest value with as many bits as the type has."""
    if value == 0:
        return mpf(0)
    mantissa, exponent = frexp(value)
    bits = BITS[kind]
    return ldexp(floor(ldexp(mantissa, bits) + mpf(1) / 2), exponent - bits)


def remez(values, weights, points, powers, rounds=30):
    """Coefficients for `powers` that minimise the largest weights * |values - polynomial| over `points`, and that error."""
    count = len(powers)
    last = len(points) - 1
    index = sorted({int((1 - cos(pi * i / count)) / 2 * last + mpf(1) / 2) for i in range(count + 1)})
    basis = [[p**k for k in powers] for p in points]
    coefficients, size = None, None
    for _ in range(rounds):
        system, right = matrix(count + 1), matrix(count + 1, 1)
        for row, at in enumerate(index):
            for column in range(count):
                system[row, column] = basis[at][column]
            system[row, count] = (-1) ** row / weights[at]
            right[row] = values[at]
        solution = lu_solve(system, right)
        coefficients = [solution[i] for i in range(count)]
        errors = [w * (v - sum(c * b for c, b in zip(coefficients, row))) for v, w, row in zip(values, weights, basis)]
        size = max(abs(e) for e in errors)
        if size <= abs(solution[count]) * mpf("1.001"):
            break
        # One extremum for each run of errors with the same sign.
        extrema, at = [], 0
        while at <= last:
            end, best = at, at
            while end <= last and (errors[end] >= 0) == (errors[at] >= 0):
                if abs(errors[end]) > abs(errors[best]):
                    best = end
                end += 1
            extrema.append(best)
            at = end
        # Too many: without the smallest one, and the smaller of its neighbours, so that the signs still alternate.
        while len(extrema) > count + 1:
            sizes = [abs(errors[at]) for at in extrema]
            if len(extrema) == count + 2:
                extrema.pop(0 if sizes[0] < sizes[-1] else -1)
                continue
            least = sizes.index(min(sizes))
            if 0 < least < len(extrema) - 1:
                first = least if sizes[least + 1] < sizes[least - 1] else least - 1
                del extrema[first : first + 2]
            else:
                extrema.pop(least)
        if len(extrema) < count + 1:
            break
        index = extrema
    return coefficients, size


def least_squares(values, weights, points, powers):
    """Coefficients that minimise the sum of squares of weights * errors; on points dense at both ends that is close to minimax.

    For powers without 0 on an interval around 0: there the errors of a minimax approximation need not alternate.
    """
    rows = [[w * p**k for k in powers] for p, w in zip(points, weights)]
    count = len(powers)
    system, right = matrix(count, count), matrix(count, 1)
    for i in range(count):
        right[i] = sum(row[i] * w * v for row, w, v in zip(rows, weights, values))
        for j in range(i + 1):
            system[i, j] = system[j, i] = sum(row[i] * row[j] for row in rows)
    solution = lu_solve(system, right)
    return [solution[i] for i in range(count)]


def fit(name, function, weight, low, high, powers, kind, note, kinds=None, fixed=(), samples=600):
    """Prints a polynomial for function(x) on [low, high]; `kinds` gives types of single coefficients, `fixed` their values."""
    points = [mpf(low) + (mpf(high) - mpf(low)) * (1 - cos(pi * i / samples)) / 2 for i in range(samples + 1)]
    # Expansions at 0 divide 0 by 0.
    points = [p if abs(p) > mpf(10) ** -12 else mpf(10) ** -12 for p in points]
    values, weights = [function(p) for p in points], [abs(weight(p)) for p in points]
    todo, done = list(powers), {}
    for power, value in fixed:
        done[power] = value
        todo.remove(power)
        values = [v - value * p**power for v, p in zip(values, points)]
    while todo:
        if low < 0 < high and done:
            coefficients = least_squares(values, weights, points, todo)
        else:
            coefficients, _ = remez(values, weights, points, todo)
        power = todo.pop(0)
        done[power] = rounded(coefficients[0], (kinds or {}).get(power, kind))
        values = [v - done[power] * p**power for v, p in zip(values, points)]
    error = max(abs(w * v) for v, w in zip(values, weights))
    emit(name, [done[p] for p in powers], "f32" if kind == "f32" else "f64", f"{note}; error 2^{float(log(error, 2)):.1f}.")


def literal(value, kind):
    """The shortest decimal that is read back as the same value."""
    number = float(value)
    if kind == "f64":
        text = repr(number)
    else:
        for digits in range(6, 10):
            text = repr(float(f"{number:.{digits}g}"))
            if struct.pack("f", float(text)) == struct.pack("f", number):
                break
    return text if any(c in text for c in ".e") else text + ".0"


def emit(name, values, kind, note):
    print(f"/// {note}")
    if len(values) == 1:
        print(f"pub(super) const {name}: {kind} = {literal(values[0], kind)};")
    else:
        print(f"pub(super) const {name}: [{kind}; {len(values)}] = [")
        for value in values:
            print(f"    {literal(value, kind)},")
        print("];")
    sys.stdout.flush()


def parts(name, value, bits, kind, note, truncate=False):
    """Splits a positive constant into positive parts of so many bits each; only the last one is rounded to nearest, if `truncate`."""
    result, rest = [], value
    for i, count in enumerate(bits):
        mantissa, exponent = frexp(rest)
        down = truncate and i + 1 < len(bits)
        part = ldexp(floor(ldexp(mantissa, count) + (0 if down else mpf(1) / 2)), exponent - count)
        result.append(part)
        rest -= part
    emit(name, result, kind, note)


def main():
    one = lambda _: mpf(1)
    print("//! Coefficients and constants, computed by `math-coefficients.py`: do not edit by hand.")
    print("#![allow(clippy::approx_constant, clippy::excessive_precision, reason = \"parts of constants, all digits written\")]\n")

    # Constants.
    parts("REDUCE_F32", pi / 2, [24, 12, 24, 24], "f32", "pi/2 in four positive parts; 12 bits times the second one are exact.", truncate=True)
    parts("PIO2_F32", pi / 2, [24, 24], "f32", "pi/2 in two parts.")
    parts("REDUCE_F64", pi / 2, [53, 27, 53], "f64", "pi/2 in three positive parts; 26 bits times the second one are exact.", truncate=True)
    parts("PIO2_F64", pi / 2, [53, 53], "f64", "pi/2 in two parts.")
    parts("PI_F32", pi, [24, 24], "f32", "pi in two parts.")
    parts("PI_F64", pi, [53, 53], "f64", "pi in two parts.")
    parts("LN2_F64", log(2), [41, 53], "f64", "ln 2; the first part times an exponent is exact.")
    parts("LN2_DD", log(2), [53, 53], "f64", "ln 2 in two full parts.")
    parts("LN2_SS", log(2), [24, 24], "f32", "ln 2 in two full parts.")
    parts("LOG2E_F32", 1 / log(2), [24, 24], "f32", "1 / ln 2 in two parts.")
    parts("LOG2E_F64", 1 / log(2), [53, 53], "f64", "1 / ln 2 in two parts.")
    parts("LOG10E_F32", 1 / log(10), [24, 24], "f32", "1 / ln 10 in two parts.")
    parts("LOG10E_F64", 1 / log(10), [53, 53], "f64", "1 / ln 10 in two parts.")
    parts("TWO_LOG2E_F32", 2 / log(2), [24, 24], "f32", "2 / ln 2 in two parts.")
    parts("LOG10_2_F32", log(2) / log(10), [15, 24], "f32", "log10 2; the first part times an exponent is exact.")
    parts("LOG10_2_F64", log(2) / log(10), [41, 53], "f64", "log10 2; the first part times an exponent is exact.")
    emit("TWO_OVER_PI_F32", [rounded(2 / pi, "f32")], "f32", "2/pi.")
    emit("TWO_OVER_PI_F64", [rounded(2 / pi, "f64")], "f64", "2/pi.")
    mp.prec = 1400
    words = [int(floor(ldexp(2 / pi, 64 * (i + 1)))) % 2**64 for i in range(20)]
    mp.prec = 240
    print("/// The first 1280 bits of 2/pi after the point, most significant word first.")
    print(f"pub(super) const TWO_OVER_PI_BITS: [u64; {len(words)}] = [")
    for word in words:
        text = f"{word:016x}"
        print(f"    0x{text[:4]}_{text[4:8]}_{text[8:12]}_{text[12:]},")
    print("];")

    # sin r = r - r z P(z), cos r = 1 + z P(z), with z = r^2 / 2 and |r| <= pi/4, a little more for rounding of the multiple.
    quarter = (pi / 4 * mpf("1.004")) ** 2
    sin_p, sin_w = lambda z: (1 - sin(sqrt(2 * z)) / sqrt(2 * z)) / z, lambda z: z * sqrt(2 * z) / sin(sqrt(2 * z))
    cos_p, cos_w = lambda z: (cos(sqrt(2 * z)) - 1) / z, lambda z: z / cos(sqrt(2 * z))
    for kind, terms in ("f32", 4), ("f64", 7):
        name = kind.upper()
        fit(f"SIN_{name}", sin_p, sin_w, 0, quarter / 2, range(terms - (kind == "f32")), kind, "sin r = r - r z P(z), z = r^2 / 2, |r| <= pi/4")
        fit(f"COS_{name}", cos_p, cos_w, 0, quarter / 2, range(terms), kind, "cos r = 1 + z P(z), z = r^2 / 2, |r| <= pi/4", fixed=[(0, mpf(-1))])
    tan_p, tan_w = lambda s: (tan(sqrt(s)) / sqrt(s) - 1) / s, lambda s: s * sqrt(s) / tan(sqrt(s))
    fit("TAN_F32", tan_p, tan_w, 0, quarter, range(7), "f32", "tan r = r + r s P(s), s = r^2, |r| <= pi/4")
    fit("TAN_F64", tan_p, tan_w, 0, quarter, range(15), "f64", "tan r = r + r s P(s), s = r^2, |r| <= pi/4")

    # e^r = 1 + r + r^2 P(r).
    edge = log(2) / 2 * mpf("1.001")
    exp_p, exp_w = lambda r: (expm1(r) - r) / r**2, lambda r: r * r / exp(r)
    fit("EXP_F32", exp_p, exp_w, -edge, edge, range(5), "f32", "e^r = 1 + r + r^2 P(r), |r| <= (ln 2)/2")
    fit("EXP_F64", exp_p, exp_w, -edge, edge, range(10), "f64", "e^r = 1 + r + r^2 P(r), |r| <= (ln 2)/2")
    exp2_p, exp2_w = lambda f: (2**f - 1) / f, lambda f: f / 2**f
    fit("EXP2_F32", exp2_p, exp2_w, mpf("-0.5"), mpf("0.5"), range(6), "f32", "2^f = 1 + f P(f), |f| <= 1/2")
    fit("EXP2_F64", exp2_p, exp2_w, mpf("-0.5"), mpf("0.5"), range(11), "f64", "2^f = 1 + f P(f), |f| <= 1/2")

    # ln(1 + f) = f - f^2/2 + f^3 P(f).
    ln_p = lambda f: (log(1 + f) - f + f * f / 2) / f**3
    ln_w = lambda f: f**3 / log(1 + f)
    fit("LN_F32", ln_p, ln_w, mpf(-1) / 3, mpf(1) / 3, range(8), "f32", "ln(1 + f) = f - f^2/2 + f^3 P(f), |f| <= 1/3")
    for name, base, terms in ("LOG2_F32", log(2), 9), ("LOG10_F32", log(10), 10):
        log_p, log_w = lambda f: (log(1 + f) - f) / base / f**2, lambda f: f**2 / log(1 + f) * base
        fit(name, log_p, log_w, mpf(-1) / 3, mpf(1) / 3, range(terms), "f32", "log(1 + f) = f / ln b + f^2 P(f), |f| <= 1/3, b the base")
    # ln m = 2 z + z^3 P(z^2), z = (m - 1)/(m + 1), sqrt(1/2) <= m <= sqrt 2.
    edge = ((sqrt(2) - 1) / (sqrt(2) + 1)) ** 2 * mpf("1.001")
    atanh2 = lambda s: log((1 + sqrt(s)) / (1 - sqrt(s)))
    z_p, z_w = lambda s: (atanh2(s) / sqrt(s) - 2) / s, lambda s: s * sqrt(s) / atanh2(s)
    fit("LN_Z_F64", z_p, z_w, 0, edge, range(7), "f64", "ln m = 2 z + z^3 P(z^2), z = (m - 1)/(m + 1), m from sqrt(1/2) to sqrt 2")
    z_q, z_r = lambda s: (atanh2(s) / sqrt(s) - 2 - 2 * s / 3) / s**2, lambda s: s**2 * sqrt(s) / atanh2(s)
    fit("POW_Z_F64", z_q, z_r, 0, edge, range(9), "f64", "ln m = 2 z + (2/3) z^3 + z^5 P(z^2)")
    two_thirds = 2 / log(2) / 3
    z_q, z_r = lambda s: (atanh2(s) / sqrt(s) / log(2) - 2 / log(2) - two_thirds * s) / s**2, lambda s: s**2 * sqrt(s) / atanh2(s) * log(2)
    fit("POW_Z_F32", z_q, z_r, 0, edge, range(3), "f32", "log2 m = (2/ln 2) z + (2/(3 ln 2)) z^3 + z^5 P(z^2)")
    parts("TWO_THIRDS_LOG2E_F32", two_thirds, [24, 24], "f32", "2/(3 ln 2) in two parts.")
    emit("TWO_THIRDS_F64", [rounded(mpf(2) / 3, "f64"), rounded(mpf(2) / 3 - rounded(mpf(2) / 3, "f64"), "f64")], "f64", "2/3 in two parts.")

    # tanh, sinh near 0; atan and asin.
    odd = lambda function: (lambda s: (function(sqrt(s)) / sqrt(s) - 1) / s, lambda s: s * sqrt(s) / function(sqrt(s)))
    p, w = odd(tanh)
    fit("TANH_F32", p, w, 0, mpf("0.9375") ** 2, range(7), "f32", "tanh x = x + x s P(s), s = x^2, |x| < 15/16")
    fit("TANH_F64", p, w, 0, mpf("0.625") ** 2, range(12), "f64", "tanh x = x + x s P(s), s = x^2, |x| < 5/8")
    p, w = odd(sinh)
    fit("SINH_F32", p, w, 0, mpf(1), range(4), "f32", "sinh x = x + x s P(s), s = x^2, |x| < 1")
    fit("SINH_F64", p, w, 0, mpf(1), range(8), "f64", "sinh x = x + x s P(s), s = x^2, |x| < 1")
    p, w = odd(atan)
    fit("ATAN_F32", p, w, 0, mpf(1), range(9), "f32", "atan x = x + x s P(s), s = x^2, |x| <= 1")
    fit("ATAN_F64", p, w, 0, mpf(1), range(20), "f64", "atan x = x + x s P(s), s = x^2, |x| <= 1")
    p, w = odd(asin)
    fit("ASIN_F32", p, w, 0, mpf("0.2501"), range(6), "f32", "asin x = x + x s P(s), s = x^2, |x| <= 1/2")
    fit("ASIN_F64", p, w, 0, mpf("0.2501"), range(13), "f64", "asin x = x + x s P(s), s = x^2, |x| <= 1/2")

    # erf x = x + x P(s) for small x; 1 - exp P(x) above, up to where that rounds to 1.
    erf_p, erf_w = lambda s: erf(sqrt(s)) / sqrt(s) - 1, lambda s: sqrt(s) / erf(sqrt(s))
    fit("ERF_F32", erf_p, erf_w, 0, 1, range(7), "f32", "erf x = x + x P(s), s = x^2, |x| < 1")
    fit("ERF_F64", erf_p, erf_w, 0, mpf("0.875") ** 2, range(13), "f64", "erf x = x + x P(s), s = x^2, |x| < 7/8")
    fit("ERFC_F32", lambda x: log(erfc(x)) / log(2), lambda x: erfc(x) * log(2), 1, 4, range(8), "f32", "erf x = 1 - 2^P(x), 1 <= x < 4")
    fit("ERFC_F64", lambda x: log(erfc(x)), erfc, mpf("0.875"), 6, range(19), "f64", "erf x = 1 - e^P(x), 7/8 <= x < 6")


main()
