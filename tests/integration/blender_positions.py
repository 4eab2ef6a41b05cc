# SPDX-License-Identifier: Apache-2.0
"""blender --background --factory-startup --python blender_positions.py -- SAMPLES IN.glb OUT.bin [IN.glb OUT.bin …]:
where Blender puts every vertex, at SAMPLES times of every clip (the rest pose where there is none).

OUT is what three_positions.mjs writes: little-endian, for each clip and time "POSE", uint32 clip, float64 time, uint32
meshes; for each mesh uint32 node, uint32 primitive, uint32 vertices, float64 x y z of each in the world. Blender joins
the primitives of a mesh into one object and drops the vertices that no triangle uses; what comes out is primitive 0
with the used vertices of all, in order.
"""
import math
import struct
import sys

import numpy

# The importer of Blender 3.4 names a type that newer numpy has dropped.
numpy.bool = bool

import bpy
from io_scene_gltf2.blender.imp.gltf2_blender_animation import BlenderAnimation
from io_scene_gltf2.blender.imp.gltf2_blender_scene import BlenderScene

# Keys lie at time * rate in single precision; a high rate keeps them apart.
FRAMES_PER_SECOND = 1000


class Moved:
    """What clips may have moved, to be put back before the next: a clip leaves alone what it doesn't name."""

    def __init__(self):
        self.places = [(thing, thing.location.copy(), thing.rotation_quaternion.copy(), thing.scale.copy())
                       for thing in self.things()]
        self.weights = [(block, block.value) for key in bpy.data.shape_keys for block in key.key_blocks]

    @staticmethod
    def things():
        for thing in bpy.data.objects:
            yield thing
            if thing.pose:
                yield from thing.pose.bones

    def put_back(self):
        for thing, location, rotation, scale in self.places:
            thing.location, thing.rotation_quaternion, thing.scale = location, rotation, scale
        for block, value in self.weights:
            block.value = value


def open_file(path):
    """The importer's own account of the file, and the state before any clip touched it."""
    bpy.ops.wm.read_factory_settings(use_empty=True)
    bpy.context.scene.render.fps = FRAMES_PER_SECOND
    bpy.context.scene.frame_start = 0
    seen = {}
    create_animations = BlenderScene.create_animations

    def watch(gltf):
        seen["gltf"], seen["rest"] = gltf, Moved()
        create_animations(gltf)

    BlenderScene.create_animations = staticmethod(watch)
    try:
        bpy.ops.import_scene.gltf(filepath=path)
    finally:
        BlenderScene.create_animations = staticmethod(create_animations)
    return seen["gltf"], seen["rest"]


def shown_objects(gltf):
    """Pairs of a file's node and the object that shows its mesh, each once."""
    for vnode in gltf.vnodes.values():
        if vnode.mesh_node_idx is not None and vnode.blender_object and vnode.blender_object.type == "MESH":
            yield vnode.mesh_node_idx, vnode.blender_object


def world_positions(thing, graph):
    evaluated = thing.evaluated_get(graph)
    mesh = evaluated.to_mesh()
    local = numpy.empty(3 * len(mesh.vertices), dtype=numpy.float32)
    mesh.vertices.foreach_get("co", local)
    evaluated.to_mesh_clear()
    matrix = numpy.array(evaluated.matrix_world, dtype=numpy.float64)
    world = local.reshape(-1, 3).astype(numpy.float64) @ matrix[:3, :3].T + matrix[:3, 3]
    # Blender's z points up, glTF's y.
    return numpy.stack([world[:, 0], world[:, 2], -world[:, 1]], axis=1)


def record(out, gltf, clip, time):
    frame = time * FRAMES_PER_SECOND
    bpy.context.scene.frame_set(math.floor(frame), subframe=frame - math.floor(frame))
    graph = bpy.context.evaluated_depsgraph_get()
    objects = list(shown_objects(gltf))
    out.write(b"POSE" + struct.pack("<IdI", clip, time, len(objects)))
    for node, thing in objects:
        positions = world_positions(thing, graph)
        out.write(struct.pack("<III", node, 0, len(positions)) + positions.astype("<f8").tobytes())


def duration(gltf, animation):
    """The last key of all channels."""
    samplers = gltf.data.animations[animation].samplers
    return max(gltf.data.accessors[sampler.input].max[0] for sampler in samplers)


def play(path, output, samples):
    gltf, rest = open_file(path)
    animations = gltf.data.animations or []
    with open(output, "wb") as out:
        if not animations:
            record(out, gltf, 0xFFFFFFFF, 0.0)
        for k, animation in enumerate(animations):
            rest.put_back()
            # The actions are taken off the NLA tracks: a strip would start at its first key, whenever that is.
            BlenderAnimation.restore_animation(gltf, animation.track_name)
            length = duration(gltf, k)
            for i in range(samples):
                record(out, gltf, k, length * (i + 0.5) / samples)


def main():
    samples, *files = sys.argv[sys.argv.index("--") + 1:]
    for path, output in zip(files[::2], files[1::2]):
        play(path, output, int(samples))


try:
    main()
except Exception as problem:  # Blender would report success otherwise
    print(f"blender_positions.py: {problem!r}", file=sys.stderr)
    sys.exit(1)
