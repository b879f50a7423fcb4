#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Render photo.png, the demo's default picture: an evening at a mountain lake, from noise alone.

    make-photo.py [OUTPUT.png]

The same picture every time: all randomness is a hash of integer positions. Sizes that are no multiple of
16, so that the picture ends inside tiles.
"""

import math
import struct
import sys
import zlib

WIDTH, HEIGHT, HORIZON, SHORE = 277, 187, 98, 163


def lattice(x, y, seed):
    """A fixed number from 0 to 1 for a point of a grid."""
    n = (x * 374761393 + y * 668265263 + seed * 2246822519) & 0xffffffff
    n = ((n ^ n >> 13) * 1274126177) & 0xffffffff
    return (n ^ n >> 16) / 0xffffffff


def smooth(x, y, seed):
    """Value noise: the grid's numbers, blended."""
    ix, iy = math.floor(x), math.floor(y)
    fx, fy = x - ix, y - iy
    fx, fy = fx * fx * (3 - 2 * fx), fy * fy * (3 - 2 * fy)
    top = lattice(ix, iy, seed) * (1 - fx) + lattice(ix + 1, iy, seed) * fx
    low = lattice(ix, iy + 1, seed) * (1 - fx) + lattice(ix + 1, iy + 1, seed) * fx
    return top * (1 - fy) + low * fy


def fractal(x, y, seed, octaves=5):
    return sum(smooth(x * 2 ** i, y * 2 ** i, seed + i) / 2 ** (i + 1) for i in range(octaves))


def mix(a, b, t):
    t = min(1.0, max(0.0, t))
    return tuple(p * (1 - t) + q * t for p, q in zip(a, b))


def sky(x, y):
    color = mix((52, 84, 140), (250, 178, 108), (max(y, 0) / HORIZON) ** 1.4)
    sun = math.hypot(x - 208, y - 40)
    color = mix(color, (255, 236, 190), math.exp(-sun / 18))
    if sun < 7:
        color = (255, 247, 222)
    cloud = fractal(x / 70, y / 22, 11)
    return mix(color, (255, 214, 196), (cloud - 0.5) * 3.2)


def ridge(x, layer):
    """Height of the mountains of a layer above the horizon, in pixels; 0 is the farthest."""
    low, high, scale = ((26, 62, 60.0), (10, 48, 38.0), (0, 30, 21.0))[layer]
    return low + (high - low) * fractal(x / scale, layer * 7.3, 40 + layer)


def mountains(x, y, color):
    shades = ((118, 122, 160), (74, 84, 120), (38, 50, 66))
    for layer in range(3):
        above = ridge(x, layer) - (HORIZON - y)
        if above <= 0:
            continue
        rock = fractal(x / 9 + above / 14, y / 7, 60 + layer)
        color = mix(shades[layer], (20, 26, 40), rock * 0.8)
        if layer < 2 and above < 16 + 22 * fractal(x / 6, y / 11, 70) - 12 * layer:
            color = mix((236, 222, 228), color, rock * 0.75)      # snow
        color = mix(color, (244, 190, 140), 0.25 - 0.1 * layer)   # evening haze
    return color


def land(x, y):
    return mountains(x, y, sky(x, y))


def lake(x, y):
    depth = y - HORIZON
    wave = fractal(x / 30, y / 2.2, 90) - 0.5
    mirrored = land(x + wave * depth * 0.25, HORIZON - depth * 1.15 + wave * 10)
    return mix(mix(mirrored, (30, 52, 76), 0.25 + depth / 190), (255, 230, 190), wave * 1.1)


def tree(x, y, foot, root, height):
    """Whether (x, y) is on a fir that stands at root."""
    up = (foot - y) / height
    if not 0 <= up <= 1:
        return False
    wide = height * 0.22 * (1 - up) * (0.55 + 0.45 * ((up * 9) % 1))
    return abs(x - root) < wide + 0.6


TREES = [(8, 84), (26, 60), (41, 100), (60, 46), (231, 52), (247, 92), (265, 70)]


def shore(x, y):
    return SHORE + 12 * (fractal(x / 45, 3.1, 120) - 0.5)


def pixel(x, y):
    color = lake(x, y) if y > HORIZON else land(x, y)
    edge = shore(x, y)
    if y > edge:
        grass = fractal(x / 4, y / 3, 130)
        color = mix((34, 44, 26), (96, 92, 44), grass * 0.9)
    for root, height in TREES:
        if tree(x, y, shore(root, 0) + 9, root, height):
            color = mix((12, 22, 18), (40, 52, 32), fractal(x / 2, y / 2, 150))
    vignette = 1 - 0.35 * (((x - WIDTH / 2) / WIDTH) ** 2 + ((y - HEIGHT / 2) / HEIGHT) ** 2) * 2
    grain = (lattice(x, y, 200) - 0.5) * 1.6
    return bytes(min(255, max(0, round(c * vignette + grain))) for c in color)


def paeth(a, b, c):
    p = a + b - c
    pa, pb, pc = abs(p - a), abs(p - b), abs(p - c)
    return a if pa <= pb and pa <= pc else b if pb <= pc else c


def filtered(row, above):
    """The row after the PNG filter that leaves the smallest differences."""
    left, corner = bytes(3) + row, bytes(3) + above
    choices = [row,
               bytes((v - a) & 255 for v, a in zip(row, left)),
               bytes((v - b) & 255 for v, b in zip(row, above)),
               bytes((v - (a + b) // 2) & 255 for v, a, b in zip(row, left, above)),
               bytes((v - paeth(a, b, c)) & 255 for v, a, b, c in zip(row, left, above, corner))]
    best = min(range(5), key=lambda i: sum(min(v, 256 - v) for v in choices[i]))
    return bytes([best]) + choices[best]


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def main():
    rows = [b"".join(pixel(x, y) for x in range(WIDTH)) for y in range(HEIGHT)]
    data = b"".join(filtered(row, above) for row, above in zip(rows, [bytes(3 * WIDTH)] + rows))
    png = b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", WIDTH, HEIGHT, 8, 2, 0, 0, 0))
    png += chunk(b"IDAT", zlib.compress(data, 9)) + chunk(b"IEND", b"")
    with open(sys.argv[1] if len(sys.argv) > 1 else "photo.png", "wb") as f:
        f.write(png)


if __name__ == "__main__":
    main()
