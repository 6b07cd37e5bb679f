#!/usr/bin/env python3
"""Prints tests/math-reference.txt: arguments of f64 functions and their values to 90 bits, computed with mpmath.

    python3 math-reference.py > tests/math-reference.txt

Each line: function, arguments, and the value in two parts as the bits of two f64.
"""

import random
import struct

import mpmath
from mpmath import mp, mpf

mp.prec = 1300  # for angles up to 2^1024
random.seed(1)


def bits(x):
    return f"{struct.unpack('<Q', struct.pack('<d', x))[0]:016x}"


def number(low, high):
    return random.choice([-1, 1]) * 2.0 ** random.uniform(low, high)


def anything():
    while True:
        x = struct.unpack("<d", struct.pack("<Q", random.getrandbits(64)))[0]
        if x == x and abs(x) != float("inf"):
            return x


def line(name, function, *arguments):
    value = function(*[mpf(x) for x in arguments])
    if abs(value) > 1.7e308 or 0 < abs(value) < 2.3e-308:
        return
    high = float(value)
    low = float(value - mpf(high))
    print(name, *[bits(x) for x in arguments], bits(high), bits(low))


def unary(name, function, *samples):
    for sample in samples:
        for _ in range(24):
            line(name, function, sample())


positive = lambda: abs(anything())
near_one = lambda: 1 + random.uniform(-1, 1) * 2.0 ** random.uniform(-50, -1)
unit = lambda: random.uniform(-1, 1)
for name in "sin", "cos", "tan":
    multiple = lambda: float(random.randint(1, 10**6) * mp.pi / 2)
    unary(name, getattr(mpmath, name), anything, lambda: number(-30, 10), multiple, lambda: number(20, 40))
    # The f64 closest to a multiple of pi/2.
    line(name, getattr(mpmath, name), 6381956970095103.0 * 2.0**797)
unary("exp", mpmath.exp, lambda: random.uniform(-700, 709), lambda: number(-60, 2))
unary("exp2", lambda x: mpf(2) ** x, lambda: random.uniform(-1020, 1023), lambda: number(-60, 2))
unary("ln", mpmath.log, positive, near_one)
unary("log2", lambda x: mpmath.log(x) / mpmath.log(2), positive, near_one)
unary("log10", mpmath.log10, positive, near_one)
unary("tanh", mpmath.tanh, lambda: number(-30, 5))
unary("sinh", mpmath.sinh, lambda: number(-30, 9.4))
unary("cosh", mpmath.cosh, lambda: number(-30, 9.4))
unary("erf", mpmath.erf, lambda: number(-30, 3), lambda: random.uniform(-6, 6))
unary("cbrt", lambda x: mpmath.sign(x) * mpmath.cbrt(abs(x)), anything)
unary("rsqrt", lambda x: 1 / mpmath.sqrt(x), positive)
unary("asin", mpmath.asin, unit, lambda: number(-30, 0), lambda: 1 - 2.0 ** random.uniform(-50, -1))
unary("acos", mpmath.acos, unit, lambda: number(-30, 0), lambda: 1 - 2.0 ** random.uniform(-50, -1))
unary("atan", mpmath.atan, anything, lambda: number(-10, 10))
for _ in range(60):
    line("pow", lambda x, y: x**y, abs(number(-9, 9)), random.uniform(-100, 100))
    line("pow", lambda x, y: x**y, near_one(), number(0, 50))
    line("pow", lambda x, y: x**y, positive(), random.uniform(-2, 2))
    line("hypot", lambda x, y: mpmath.sqrt(x * x + y * y), number(-9, 9), number(-9, 9))
    x = anything()
    line("atan2", mpmath.atan2, x, x * number(-40, 40))
