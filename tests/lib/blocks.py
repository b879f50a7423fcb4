# SPDX-License-Identifier: MIT
"""Compressed blocks to texels, straight from the specifications: exact fractions, bits read one at a time. Slow, and
written to be compared with: the Khronos Data Format Specification (S3TC, RGTC), Direct3D's documents of the BC
formats.

    blocks.py FORMAT < BLOCKS > TEXELS

FORMAT is a name of tests/blocks/soup.h. TEXELS are those of all blocks, one after the other, in rows: four bytes, or
four floats in little-endian order."""

import struct
import sys
from fractions import Fraction


class Bits:
    """A block as a row of bits, number 0 the lowest of the first byte."""

    def __init__(self, data):
        self.data = data

    def bit(self, n):
        return self.data[n // 8] >> (n % 8) & 1

    def get(self, low, count):
        return sum(self.bit(low + i) << i for i in range(count))

    def signed(self, low, count):
        value = self.get(low, count)
        return value - (1 << count) if value >> (count - 1) else value


def float32(value):
    """The bytes of the nearest float of a fraction, ties to even."""
    value = Fraction(value)
    if not value:
        return b"\0\0\0\0"
    sign, value, exponent = value < 0, abs(value), 0
    while value >= 2:
        value, exponent = value / 2, exponent + 1
    while value < 1:
        value, exponent = value * 2, exponent - 1
    scaled = value * (1 << 23)
    mantissa = scaled.numerator // scaled.denominator
    rest = scaled - mantissa
    mantissa += rest > Fraction(1, 2) or (rest == Fraction(1, 2) and mantissa & 1)
    if mantissa >> 24:
        mantissa, exponent = mantissa >> 1, exponent + 1
    return struct.pack("<I", sign << 31 | (exponent + 127) << 23 | mantissa & 0x7fffff)


# ---- BC1 to BC5 ------------------------------------------------------------------------------------------------------

def repeat(value, bits, to=8):
    """A number of `bits` bits made longer by writing it again and again."""
    text = format(value, f"0{bits}b")
    return int((text * to)[:to], 2)


def colors(bits, at, alpha):
    """Sixteen colors; `alpha` says that one bit of it is there."""
    ends = [bits.get(at, 16), bits.get(at + 16, 16)]
    rgb = [[repeat(end >> 11, 5), repeat(end >> 5 & 63, 6), repeat(end & 31, 5)] for end in ends]
    if alpha and ends[0] <= ends[1]:
        palette = [(*rgb[0], 255), (*rgb[1], 255), (*[(a + b) // 2 for a, b in zip(*rgb)], 255), (0, 0, 0, 0)]
    else:
        palette = [(*[(a * (3 - k) + b * k) // 3 for a, b in zip(*rgb)], 255) for k in (0, 3, 1, 2)]
    return [palette[bits.get(at + 32 + 2 * i, 2)] for i in range(16)]


def ramp(bits, at, signed):
    """Sixteen exact values of one component."""
    read = bits.signed if signed else bits.get
    one = 127 if signed else 255
    ends = [read(at, 8), read(at + 8, 8)]
    low, high = [Fraction(max(end, -127), one) for end in ends]
    if ends[0] > ends[1]:
        palette = [low, high] + [low + (high - low) * Fraction(k, 7) for k in range(1, 7)]
    else:
        palette = [low, high] + [low + (high - low) * Fraction(k, 5) for k in range(1, 5)]
        palette += [Fraction(-1 if signed else 0), Fraction(1)]
    return [palette[bits.get(at + 16 + 3 * i, 3)] for i in range(16)]


def bc1(bits):
    return colors(bits, 0, True)


def bc2(bits):
    return [(*c[:3], repeat(bits.get(4 * i, 4), 4)) for i, c in enumerate(colors(bits, 64, False))]


def bc3(bits):
    return [(*c[:3], int(a * 255)) for a, c in zip(ramp(bits, 0, False), colors(bits, 64, False))]


def bc4(bits, signed=False):
    return [(r, 0, 0, 1) for r in ramp(bits, 0, signed)]


def bc5(bits, signed=False):
    return [(r, g, 0, 1) for r, g in zip(ramp(bits, 0, signed), ramp(bits, 64, signed))]


# ---- All of them -----------------------------------------------------------------------------------------------------

# name: bytes of a block, whether texels are floats, decoder
FORMATS = {
    "bc1": (8, False, bc1),
    "bc2": (16, False, bc2),
    "bc3": (16, False, bc3),
    "bc4": (8, True, bc4),
    "bc4_signed": (8, True, lambda bits: bc4(bits, True)),
    "bc5": (16, True, bc5),
    "bc5_signed": (16, True, lambda bits: bc5(bits, True)),
}


def decode(name, block):
    """The texels of a block as bytes."""
    _size, floats, decoder = FORMATS[name]
    texels = decoder(Bits(block))
    if floats:
        return b"".join(float32(c) for texel in texels for c in texel)
    return bytes(c for texel in texels for c in texel)


def excused(_decoder, _name, _block):
    """Whether a decoder of tests/blocks/oracles.py is known to get a block wrong; why stands beside each."""
    return False


def main():
    if len(sys.argv) != 2 or sys.argv[1] not in FORMATS:
        sys.exit(__doc__)
    size = FORMATS[sys.argv[1]][0]
    blocks = sys.stdin.buffer.read()
    for at in range(0, len(blocks), size):
        sys.stdout.buffer.write(decode(sys.argv[1], blocks[at:at + size]))


if __name__ == "__main__":
    main()
