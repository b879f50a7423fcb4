#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Write the models tsr-view is tried with, and pictures of them that no GPU has drawn.

    make-models.py [DIR]

house.obj, house.mtl, house.png: walls with a texture, a roof, a lawn, a pane of glass; no normals.
tower.gltf: boxes in a hierarchy of nodes with normals and a texture inside of the file, a glass top.
*.expected.png: what `tsr-view --size 160x120` should show, by rays through the four samples of each pixel.
"""

import base64
import json
import math
import os
import struct
import sys
import zlib

WIDTH, HEIGHT, TURN, TILT, DISTANCE = 160, 120, 30, 20, 2.0
BACKGROUND = (0x20, 0x24, 0x2c)
SAMPLES = ((6, 2), (14, 6), (2, 10), (10, 14))      # in sixteenths of a pixel
LAMP, AMBIENT, DIFFUSE = (0.4, 0.6, 0.7), 0.25, 0.75


def png(width, height, rgba):
    """A PNG file of rows of (r, g, b, a)."""
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))

    rows = b"".join(b"\0" + bytes(v for texel in rgba[y * width:(y + 1) * width] for v in texel) for y in range(height))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 6, 0, 0, 0))
            + chunk(b"IDAT", zlib.compress(rows, 9)) + chunk(b"IEND", b""))


def linear(c):
    c /= 255
    return c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4


def encoded(c):
    c = min(max(c, 0), 1)
    return round(255 * (12.92 * c if c <= 0.0031308 else 1.055 * c ** (1 / 2.4) - 0.055))


class Texture:
    """Texels in rows, top first; repeated; linear in both directions."""

    def __init__(self, side, texel):
        self.side = side
        self.texels = [texel(x, y) + (255,) for y in range(side) for x in range(side)]
        self.light = [[linear(v) for v in t[:3]] for t in self.texels]

    def file(self):
        return png(self.side, self.side, self.texels)

    def at(self, u, v):
        x, y = u * self.side - 0.5, v * self.side - 0.5
        x0, y0 = math.floor(x), math.floor(y)
        fx, fy = x - x0, y - y0
        result = [0, 0, 0]
        for dx, dy, weight in ((0, 0, (1 - fx) * (1 - fy)), (1, 0, fx * (1 - fy)), (0, 1, (1 - fx) * fy), (1, 1, fx * fy)):
            texel = self.light[(y0 + dy) % self.side * self.side + (x0 + dx) % self.side]
            result = [r + weight * t for r, t in zip(result, texel)]
        return result


def bricks(x, y):
    if y % 4 == 3 or (x + 4 * (y // 4 % 2)) % 8 == 7:
        return (200, 196, 188)
    return (168 + 5 * (x * 7 + y * 3) % 40, 70 + (x * 5 + y) % 30, 52)


def stripes(x, y):
    return ((230, 210, 60), (60, 90, 200), (240, 240, 240), (200, 60, 80))[(x // 2 + y // 2) % 4]


class Material:
    def __init__(self, name, color, texture=None, alpha=1.0):
        self.name, self.color, self.texture, self.alpha = name, color, texture, alpha


# ---- Scenes: polygons of (position, texture coordinates) ----------------------------------------------------

def box(low, high):
    """Six quads of four corners with texture coordinates, (0, 0) at the texture's upper left corner."""
    faces = []
    for axis in range(3):
        for side in (low, high):
            quad = []
            for s, t in ((0, 0), (1, 0), (1, 1), (0, 1)):
                p = [0, 0, 0]
                p[axis] = side[axis]
                b, c = (1, 2) if axis == 0 else ((0, 2) if axis == 1 else (0, 1))
                if axis == 0:
                    b, c = 2, 1
                p[b] = (low, high)[s][b]
                p[c] = (low, high)[t][c]
                quad.append((tuple(p), (s, 1 - t)))
            faces.append(quad)
    return faces


def house():
    walls = Material("walls", (1, 1, 1), Texture(16, bricks))
    roof, lawn = Material("roof", (0.7, 0.2, 0.15)), Material("lawn", (0.35, 0.6, 0.25))
    glass = Material("glass", (0.5, 0.75, 0.9), alpha=0.4)
    faces = [(walls, quad) for quad in box((-1, 0, -0.75), (1, 1, 0.75))]
    left, right = ((-1.2, 0.95, 0.9), (-1.2, 0.95, -0.9), (-1.2, 1.7, 0)), ((1.2, 0.95, 0.9), (1.2, 0.95, -0.9), (1.2, 1.7, 0))
    for polygon in ((left[0], right[0], right[2], left[2]), (right[1], left[1], left[2], right[2]),
                    (left[0], left[2], left[1]), (right[0], right[1], right[2])):
        faces.append((roof, [(p, (0, 0)) for p in polygon]))
    faces.append((lawn, [(p, (0, 0)) for p in ((-2, 0, 1.6), (2, 0, 1.6), (2, 0, -1.6), (-2, 0, -1.6))]))
    faces.append((glass, [(p, (0, 0)) for p in ((-1.6, 0.1, 1.3), (0.4, 0.1, 1.3), (0.4, 0.9, 1.3), (-1.6, 0.9, 1.3))]))
    return faces


# name, parent, how it is moved, scaled, turned (a quaternion x, y, z, w); mesh
TOWER = (
    ("base", None, (0, 0, 0), (1, 0.25, 1), (0, 0, 0, 1), "plain"),
    ("shaft", None, (0, 1, 0), (0.5, 0.75, 0.5), (0, math.sin(math.pi / 8), 0, math.cos(math.pi / 8)), "striped"),
    ("arm", "shaft", (-1.2, 0.4, 0.6), (0.5, 0.3, 0.4), (0, 0, math.sin(0.2), math.cos(0.2)), "plain"),
    ("top", None, (0, 2.25, 0), (0.6, 0.5, 0.6), (0, 0, 0, 1), "glass"),
)


def rotate(q, p):
    x, y, z, w = q
    cross = lambda a, b: tuple(a[(i + 1) % 3] * b[(i + 2) % 3] - a[(i + 2) % 3] * b[(i + 1) % 3] for i in range(3))
    t = tuple(2 * c for c in cross((x, y, z), p))
    return tuple(p[i] + w * t[i] + cross((x, y, z), t)[i] for i in range(3))


def octahedron():
    points = {axis * 2 + side: tuple((1 - 2 * side) * (i == axis) for i in range(3)) for axis in range(3) for side in range(2)}
    return [[(points[p], (0, 0)) for p in (x, 2 + y, 4 + z)] for x in (0, 1) for y in (0, 1) for z in (0, 1)]


def tower_materials():
    return {"plain": Material("stone", (0.6, 0.55, 0.5)), "striped": Material("striped", (1, 1, 1), Texture(8, stripes)),
            "glass": Material("glass", (0.4, 0.8, 0.7), alpha=0.5)}


def tower():
    materials, nodes, faces = tower_materials(), {n[0]: n for n in TOWER}, []
    for node in TOWER:
        for polygon in octahedron() if node[5] == "glass" else box((-1, -1, -1), (1, 1, 1)):
            corners = []
            for p, uv in polygon:
                at = node
                while at:
                    p = tuple(m + c for m, c in zip(at[2], rotate(at[4], tuple(s * c for s, c in zip(at[3], p)))))
                    at = nodes.get(at[1])
                corners.append((p, uv))
            faces.append((materials[node[5]], corners))
    return faces


# ---- Files -------------------------------------------------------------------------------------------------

def write_obj(directory):
    lines, materials, vertices = ["# SPDX-License-Identifier: MIT", "# Written by make-models.py.", "mtllib house.mtl"], [], 0
    for material, polygon in house():
        if not materials or materials[-1] is not material:
            materials.append(material)
            lines.append(f"usemtl {material.name}")
        for p, uv in polygon:
            lines += [f"v {p[0]} {p[1]} {p[2]}", f"vt {uv[0]} {1 - uv[1]}"]
        lines.append("f " + " ".join(f"{vertices + i + 1}/{vertices + i + 1}" for i in range(len(polygon))))
        vertices += len(polygon)
    with open(os.path.join(directory, "house.obj"), "w") as f:
        f.write("\n".join(lines) + "\n")
    with open(os.path.join(directory, "house.mtl"), "w") as f:
        f.write("# SPDX-License-Identifier: MIT\n")
        for m in materials:
            f.write(f"newmtl {m.name}\nKd {m.color[0]} {m.color[1]} {m.color[2]}\nd {m.alpha}\n")
            if m.texture:
                f.write("map_Kd house.png\n")
                with open(os.path.join(directory, "house.png"), "wb") as png_file:
                    png_file.write(m.texture.file())


class Buffer:
    """The binary part of a glTF file: accessors over one buffer."""

    def __init__(self):
        self.data, self.views, self.accessors = b"", [], []

    def view(self, data):
        self.data += b"\0" * (-len(self.data) % 4)
        self.views.append({"buffer": 0, "byteOffset": len(self.data), "byteLength": len(data)})
        self.data += data
        return len(self.views) - 1

    def floats(self, rows):
        width = len(rows[0])
        self.accessors.append({"bufferView": self.view(b"".join(struct.pack(f"<{width}f", *r) for r in rows)),
                               "componentType": 5126, "count": len(rows), "type": f"VEC{width}",
                               "min": [min(c) for c in zip(*rows)], "max": [max(c) for c in zip(*rows)]})
        return len(self.accessors) - 1

    def indices(self, numbers):
        self.accessors.append({"bufferView": self.view(struct.pack(f"<{len(numbers)}H", *numbers)),
                               "componentType": 5123, "count": len(numbers), "type": "SCALAR"})
        return len(self.accessors) - 1


def box_mesh(buffer, material):
    faces = box((-1, -1, -1), (1, 1, 1))
    corners = [corner for quad in faces for corner in quad]
    normals = [tuple((-1.0, 1.0)[n // 4 % 2] * (axis == n // 8) for axis in range(3)) for n in range(24)]
    return {"primitives": [{"attributes": {"POSITION": buffer.floats([p for p, _ in corners]), "NORMAL": buffer.floats(normals),
                                           "TEXCOORD_0": buffer.floats([uv for _, uv in corners])},
                            "indices": buffer.indices([4 * f + i for f in range(6) for i in (0, 1, 2, 0, 2, 3)]),
                            "material": material}]}


def write_gltf(directory):
    buffer, names, materials = Buffer(), ("plain", "striped", "glass"), tower_materials()
    meshes = [box_mesh(buffer, 0), box_mesh(buffer, 1),
              {"primitives": [{"attributes": {"POSITION": buffer.floats([p for t in octahedron() for p, _ in t])}, "material": 2}]}]
    image = buffer.view(materials["striped"].texture.file())
    nodes = []
    for name, _, move, scale, turn, mesh in TOWER:
        node = {"name": name, "mesh": names.index(mesh), "translation": move, "scale": scale, "rotation": turn}
        children = [i for i, n in enumerate(TOWER) if n[1] == name]
        nodes.append({**node, "children": children} if children else node)
    entries = []
    for name in names:
        m = materials[name]
        entry = {"name": m.name, "pbrMetallicRoughness": {"baseColorFactor": [*m.color, m.alpha]}}
        if m.texture:
            entry["pbrMetallicRoughness"]["baseColorTexture"] = {"index": 0}
        entries.append({**entry, "alphaMode": "BLEND"} if m.alpha < 1 else entry)
    with open(os.path.join(directory, "tower.gltf"), "w") as f:
        json.dump({
            "asset": {"copyright": "SPDX-License-Identifier: MIT", "version": "2.0", "generator": "make-models.py"},
            "scene": 0, "scenes": [{"nodes": [i for i, n in enumerate(TOWER) if n[1] is None]}], "nodes": nodes,
            "meshes": meshes, "materials": entries, "textures": [{"source": 0}],
            "images": [{"bufferView": image, "mimeType": "image/png"}],
            "accessors": buffer.accessors, "bufferViews": buffer.views,
            "buffers": [{"byteLength": len(buffer.data),
                         "uri": "data:application/octet-stream;base64," + base64.b64encode(buffer.data).decode()}],
        }, f, indent=1)
        f.write("\n")


# ---- The picture without a GPU ------------------------------------------------------------------------------

def place(faces):
    """Corners as the camera sees them: x right, y up, z towards it, in the unit ball; with normals of faces, turned."""
    points = [p for _, polygon in faces for p, _ in polygon]
    low, high = [min(c) for c in zip(*points)], [max(c) for c in zip(*points)]
    middle, radius = [(a + b) / 2 for a, b in zip(low, high)], math.dist(low, high) / 2
    c, s = math.cos(math.radians(TURN)), math.sin(math.radians(TURN))
    ct, st = math.cos(math.radians(TILT)), math.sin(math.radians(TILT))
    triangles = []
    for material, polygon in faces:
        turned = []
        for p, uv in polygon:
            x, y, z = ((a - b) / radius for a, b in zip(p, middle))
            turned.append(((c * x + s * z, y, c * z - s * x), uv))
        for i in range(1, len(turned) - 1):
            corners = (turned[0], turned[i], turned[i + 1])
            a, b, d = (p for p, _ in corners)
            u, v = [q - r for q, r in zip(b, a)], [q - r for q, r in zip(d, a)]
            n = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
            light = abs(sum(q * r for q, r in zip(n, LAMP))) / math.hypot(*n) / math.hypot(*LAMP)
            seen = [((x, ct * y - st * z, st * y + ct * z), uv) for (x, y, z), uv in corners]
            triangles.append((material, AMBIENT + DIFFUSE * light, [s for s in map(window, seen)]))
    return triangles


def window(corner):
    """x and y in pixels, 1/w, texture coordinates."""
    (x, y, z), uv = corner
    w, t = DISTANCE - z, math.sqrt(3)
    return (x * t * HEIGHT / WIDTH / w + 1) / 2 * WIDTH, (1 - y * t / w) / 2 * HEIGHT, 1 / w, uv


def weights(triangle, x, y):
    (ax, ay, *_), (bx, by, *_), (cx, cy, *_) = triangle
    area = (bx - ax) * (cy - ay) - (by - ay) * (cx - ax)
    if not area:
        return (-1, -1, -1)
    b = ((x - ax) * (cy - ay) - (y - ay) * (cx - ax)) / area
    c = ((bx - ax) * (y - ay) - (by - ay) * (x - ax)) / area
    return (1 - b - c, b, c)


def shade(material, light, triangle, x, y):
    """At a pixel's centre, wherever the sample is."""
    near = [weight * corner[2] for weight, corner in zip(weights(triangle, x, y), triangle)]
    color = material.base
    if material.texture:
        u, v = (sum(n * corner[3][i] for n, corner in zip(near, triangle)) / sum(near) for i in range(2))
        color = [c * t for c, t in zip(color, material.texture.at(u, v))]
    return [c * light for c in color]


def sample(triangles, x, y, px, py):
    best, color, depth = None, [linear(c) for c in BACKGROUND], 0
    for material, light, triangle in triangles:
        w = weights(triangle, x, y)
        near = sum(a * corner[2] for a, corner in zip(w, triangle))
        if min(w) >= 0 and material.alpha == 1 and near > depth:
            depth, best = near, (material, light, triangle)
    if best:
        color = shade(*best, px, py)
    for material, light, triangle in triangles:
        w = weights(triangle, x, y)
        if material.alpha < 1 and min(w) >= 0 and sum(a * corner[2] for a, corner in zip(w, triangle)) > depth:
            front = shade(material, light, triangle, px, py)
            color = [material.alpha * f + (1 - material.alpha) * c for f, c in zip(front, color)]
    return color


def write_expected(directory, name, faces, gamma):
    for material, _ in faces:
        material.base = [linear(255 * c) if gamma else c for c in material.color]
    triangles, texels = place(faces), []
    for y in range(HEIGHT):
        for x in range(WIDTH):
            of = [sample(triangles, x + sx / 16, y + sy / 16, x + 0.5, y + 0.5) for sx, sy in SAMPLES]
            texels.append(tuple(encoded(sum(c) / len(SAMPLES)) for c in zip(*of)) + (255,))
    with open(os.path.join(directory, name), "wb") as f:
        f.write(png(WIDTH, HEIGHT, texels))


def main():
    directory = sys.argv[1] if len(sys.argv) > 1 else os.path.dirname(os.path.abspath(__file__))
    write_obj(directory)
    write_gltf(directory)
    write_expected(directory, "house.expected.png", house(), True)
    write_expected(directory, "tower.expected.png", tower(), False)


if __name__ == "__main__":
    main()
