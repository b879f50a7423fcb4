# SPDX-License-Identifier: MIT
"""Decoders of compressed blocks that others have written: libraries of Debian, called as they are. Each is a function
of (name, blocks) that returns the texels as tests/lib/blocks.py does, None if it does not know the format, or raises
OSError where it is not installed."""

import ctypes
import os
import struct
import subprocess
import tempfile

COLUMNS = 64                        # blocks in a row of the pictures


def split(name):
    """The size of a format's blocks in texels."""
    if name.startswith("astc_"):
        return tuple(int(n) for n in name.split("_")[1].split("x"))
    return 4, 4


def unpicture(picture, columns, rows, w, h, bytes_):
    """The texels of a picture block by block."""
    pitch = columns * w * bytes_
    out = bytearray()
    for row in range(rows):
        for column in range(columns):
            for y in range(h):
                at = (row * h + y) * pitch + column * w * bytes_
                out += picture[at:at + w * bytes_]
    return bytes(out)


# ---- Mesa's software rasterizer, through EGL without a display -------------------------------------------------------

GL_FORMATS = {
    "bc1": 0x83f1, "bc2": 0x83f2, "bc3": 0x83f3, "bc4": 0x8dbb, "bc4_signed": 0x8dbc, "bc5": 0x8dbd,
    "bc5_signed": 0x8dbe, "bc7": 0x8e8c, "bc6h_signed": 0x8e8e, "bc6h": 0x8e8f, "eac_r11": 0x9270,
    "eac_r11_signed": 0x9271, "eac_rg11": 0x9272, "eac_rg11_signed": 0x9273, "etc2_rgb8": 0x9274, "etc2_rgb8a1": 0x9276,
    "etc2_rgba8": 0x9278,
}
ASTC_SIZES = ["4x4", "5x4", "5x5", "6x5", "6x6", "8x5", "8x6", "8x8", "10x5", "10x6", "10x8", "10x10", "12x10", "12x12"]
for _i, _size in enumerate(ASTC_SIZES):
    GL_FORMATS[f"astc_{_size}_narrow"] = 0x93b0 + _i
    GL_FORMATS[f"astc_{_size}_srgb"] = 0x93d0 + _i
GL_FLOATS = ("bc4", "bc5", "bc6h", "eac")


class Gl:
    """A context, made once."""
    functions = None

    @classmethod
    def get(cls, name, *arguments):
        cls.functions = cls.functions or cls.open()
        function = ctypes.CFUNCTYPE(None, *arguments)(cls.functions(name.encode()))
        return function

    @staticmethod
    def open():
        os.environ["GALLIUM_DRIVER"] = "softpipe"
        os.environ["LIBGL_ALWAYS_SOFTWARE"] = "1"
        egl = ctypes.CDLL("libEGL.so.1")
        egl.eglGetProcAddress.restype = ctypes.c_void_p
        platform = ctypes.CFUNCTYPE(ctypes.c_void_p, ctypes.c_uint, ctypes.c_void_p, ctypes.c_void_p)(
            egl.eglGetProcAddress(b"eglGetPlatformDisplayEXT"))
        display = ctypes.c_void_p(platform(0x31dd, None, None))
        if not egl.eglInitialize(display, None, None):
            raise OSError("EGL has no surfaceless display")
        egl.eglBindAPI(0x30a2)
        egl.eglCreateContext.restype = ctypes.c_void_p
        attributes = (ctypes.c_int * 5)(0x3098, 3, 0x30fb, 3, 0x3038)
        context = ctypes.c_void_p(egl.eglCreateContext(display, None, None, attributes))
        if not context or not egl.eglMakeCurrent(display, None, None, context):
            raise OSError("EGL makes no context")
        return egl.eglGetProcAddress


def mesa(name, blocks):
    if name not in GL_FORMATS:
        return None
    w, h = split(name)
    size = 8 if name in ("bc1", "bc4", "bc4_signed", "etc2_rgb8", "etc2_rgb8a1", "eac_r11", "eac_r11_signed") else 16
    rows = len(blocks) // size // COLUMNS
    floats = name.startswith(GL_FLOATS)
    texture = ctypes.c_uint()
    i, p = ctypes.c_int, ctypes.c_void_p
    Gl.get("glGenTextures", i, p)(1, ctypes.byref(texture))
    Gl.get("glBindTexture", i, i)(0x0de1, texture.value)
    Gl.get("glCompressedTexImage2D", i, i, i, i, i, i, i, p)(
        0x0de1, 0, GL_FORMATS[name], COLUMNS * w, rows * h, 0, len(blocks), blocks)
    out = ctypes.create_string_buffer(rows * h * COLUMNS * w * (16 if floats else 4))
    Gl.get("glPixelStorei", i, i)(0x0d05, 1)
    Gl.get("glGetTexImage", i, i, i, i, p)(0x0de1, 0, 0x1908, 0x1406 if floats else 0x1401, out)
    Gl.get("glDeleteTextures", i, p)(1, ctypes.byref(texture))
    return unpicture(out.raw, COLUMNS, rows, w, h, 16 if floats else 4)


# ---- libsquish, Pillow, astcenc --------------------------------------------------------------------------------------

def squish(name, blocks):
    kinds = {"bc1": 1, "bc2": 2, "bc3": 4}
    if name not in kinds:
        return None
    library = ctypes.CDLL("libsquish.so.0")
    rows = len(blocks) // (8 if name == "bc1" else 16) // COLUMNS
    out = ctypes.create_string_buffer(rows * COLUMNS * 64)
    library._ZN6squish15DecompressImageEPhiiPKvi(out, COLUMNS * 4, rows * 4, blocks, kinds[name])
    return unpicture(out.raw, COLUMNS, rows, 4, 4, 4)


def pillow(name, blocks):
    kinds = {"bc1": 1, "bc2": 2, "bc3": 3, "bc7": 7}
    if name not in kinds:
        return None
    try:
        from PIL import Image
    except ImportError as error:
        raise OSError(error) from error
    rows = len(blocks) // (8 if name == "bc1" else 16) // COLUMNS
    image = Image.frombytes("RGBA", (COLUMNS * 4, rows * 4), blocks, "bcn", (kinds[name], name.upper()))
    return unpicture(image.tobytes(), COLUMNS, rows, 4, 4, 4)


def astcenc(name, blocks):
    """ARM's decoder. Its linear profile writes 16-bit floats into a KTX file, its sRGB profile bytes."""
    if not name.startswith("astc_") or name.endswith("_narrow"):
        return None
    w, h = split(name)
    rows = len(blocks) // 16 // COLUMNS
    srgb = name.endswith("_srgb")
    with tempfile.TemporaryDirectory() as work:
        extent = [(n & 0xffffff).to_bytes(3, "little") for n in (COLUMNS * w, rows * h, 1)]
        with open(f"{work}/in.astc", "wb") as stream:
            stream.write(b"\x13\xab\xa1\x5c" + bytes([w, h, 1]) + b"".join(extent) + blocks)
        mode, out = ("-ds", "out.png") if srgb else ("-dh", "out.ktx")
        subprocess.run(["astcenc", mode, f"{work}/in.astc", f"{work}/{out}"], check=True, stdout=subprocess.DEVNULL)
        if srgb:
            from PIL import Image
            picture = Image.open(f"{work}/{out}").convert("RGBA").tobytes()
        else:
            with open(f"{work}/{out}", "rb") as stream:
                data = stream.read()
            extra = struct.unpack_from("<I", data, 60)[0]
            halves = data[64 + extra + 4:]
            halves = struct.unpack(f"<{len(halves) // 2}e", halves)
            picture = struct.pack(f"<{len(halves)}f", *halves)
    return unpicture(picture, COLUMNS, rows, w, h, 4 if srgb else 16)


ALL = {"mesa": mesa, "squish": squish, "pillow": pillow, "astcenc": astcenc}
