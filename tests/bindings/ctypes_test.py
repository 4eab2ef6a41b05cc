# SPDX-License-Identifier: Apache-2.0
"""ctypes_test.py LIBRARY ASSET VERSION: a character played from Python, with nothing but the shared library."""

import ctypes
import math
import sys


def main():
    library, asset, version = sys.argv[1:4]
    supple = ctypes.CDLL(library)
    supple.supple_version.restype = ctypes.c_char_p
    supple.supple_last_error.restype = ctypes.c_char_p
    supple.supple_character_joint_name.restype = ctypes.c_char_p
    supple.supple_character_height.restype = ctypes.c_double
    supple.supple_state_saved_bytes.restype = ctypes.c_size_t
    assert supple.supple_version().decode() == version

    character = ctypes.c_void_p()
    assert supple.supple_character_load(b"/does/not/exist.supple", ctypes.byref(character)) == 3
    assert b"/does/not/exist.supple" in supple.supple_last_error()
    assert supple.supple_character_load(asset.encode(), ctypes.byref(character)) == 0, supple.supple_last_error()
    with open(asset, "rb") as file:
        data = file.read()
    again = ctypes.c_void_p()
    assert supple.supple_character_load_memory(data, ctypes.c_size_t(len(data)), ctypes.byref(again)) == 0
    supple.supple_character_free(again)
    assert supple.supple_character_height(character) > 0

    names = [supple.supple_character_joint_name(character, j) for j in range(supple.supple_character_joint_count(character))]
    assert b"shoulder" in names and b"wrist" in names
    shoulder = supple.supple_character_find_joint(character, b"shoulder")
    vertices = supple.supple_character_vertex_count(character)
    state = ctypes.c_void_p()
    assert supple.supple_state_create(character, None, ctypes.byref(state)) == 0

    rest = (ctypes.c_float * 10)()
    assert supple.supple_character_joint_rest(character, shoulder, rest) == 0
    offsets = (ctypes.c_float * (3 * vertices))()

    def swing(frames):
        for frame in range(frames):
            local = (ctypes.c_float * 10)(*rest)
            half = 0.1 * math.sin(2 * math.pi * 2 * frame / 60)
            local[3:7] = [0, 0, math.sin(half), math.cos(half)]
            assert supple.supple_state_set_joint(state, shoulder, local) == 0
            assert supple.supple_state_advance(state, ctypes.c_double(1 / 60)) == 0
        assert supple.supple_state_displacements(state, -1, offsets, ctypes.c_size_t(len(offsets))) == 0
        return list(offsets)

    assert max(map(abs, swing(40))) > 1e-4
    saved = ctypes.create_string_buffer(supple.supple_state_saved_bytes(state))
    assert supple.supple_state_save(state, saved, ctypes.c_size_t(len(saved))) == 0
    once = swing(10)
    assert supple.supple_state_restore(state, saved, ctypes.c_size_t(len(saved))) == 0
    assert swing(10) == once
    assert supple.supple_state_displacements(state, -1, offsets, ctypes.c_size_t(5)) == 2
    supple.supple_state_free(state)
    supple.supple_character_free(character)
    print("played through ctypes")


main()
