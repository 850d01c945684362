// Reads PMX, PMD, VMD and VPD files with babylon-mmd's own parsers and prints what they hold.
// Its modules name each other without a suffix, as bundlers like it: Node has to be told.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { pathToFileURL } from "node:url";

const hook = `export async function resolve(name, context, next) {
  try { return await next(name, context); }
  catch (error) {
    if (name.startsWith(".")) return next(name + ".js", context);
    throw error;
  }
}`;
register("data:text/javascript," + encodeURIComponent(hook));
const parsers = pathToFileURL(process.argv[2] + "/babylon-mmd/esm/Loader/Parser/");
const { PmxReader } = await import(new URL("pmxReader.js", parsers).href);
const { PmdReader } = await import(new URL("pmdReader.js", parsers).href);
const { VmdObject } = await import(new URL("vmdObject.js", parsers).href);
const { VpdReader } = await import(new URL("vpdReader.js", parsers).href);

const said = [];
const logger = { log() {}, warn: (text) => said.push(text), error: (text) => said.push(text) };

const model = (file) => ({
  name: file.header.modelName,
  vertices: file.vertices.map((vertex) => ({
    position: vertex.position,
    normal: vertex.normal,
    uv: vertex.uv,
    type: vertex.weightType,
    bones: vertex.boneWeight.boneIndices,
    weights: vertex.boneWeight.boneWeights,
  })),
  indices: [...file.indices],
  textures: file.textures,
  materials: file.materials.map((material) => ({
    name: material.name,
    diffuse: material.diffuse,
    flag: material.flag,
    texture: material.textureIndex,
    count: material.indexCount,
  })),
  bones: file.bones.map((bone) => ({
    name: bone.name,
    position: bone.position,
    parent: bone.parentBoneIndex,
    layer: bone.transformOrder,
    flag: bone.flag,
    append: bone.appendTransform ?? null,
    axis: bone.axisLimit ?? null,
    ik: bone.ik ?? null,
  })),
  morphs: file.morphs.map((morph) => ({
    name: morph.name,
    category: morph.category,
    type: morph.type,
    indices: morph.indices ? [...morph.indices] : [],
    positions: morph.positions ? [...morph.positions] : [],
    ratios: morph.ratios ? [...morph.ratios] : [],
  })),
  frames: file.displayFrames.map((frame) => [frame.name, frame.frames.length]),
  bodies: file.rigidBodies.length,
  joints: file.joints.length,
});

const keys = (reader, read) => Array.from({ length: reader.length }, (_, i) => read(reader.get(i)));
const motion = (file) => ({
  bones: keys(file.boneKeyFrames, (key) => ({
    name: key.boneName,
    frame: key.frameNumber,
    position: key.position,
    rotation: key.rotation,
    interpolation: [...key.interpolation],
    physics: key.physicsToggle ?? null,
  })),
  morphs: keys(file.morphKeyFrames, (key) => [key.morphName, key.frameNumber, key.weight]),
  cameras: file.cameraKeyFrames.length,
  properties: file.propertyKeyFrames,
});

async function read(path) {
  said.length = 0;
  const bytes = readFileSync(path);
  const data = bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length);
  const suffix = path.slice(-4).toLowerCase();
  try {
    if (suffix === ".vmd") return { ...motion(VmdObject.ParseFromBuffer(data)), said: [...said] };
    if (suffix === ".vpd") {
      const text = new TextDecoder("shift-jis").decode(data);
      return { ...VpdReader.Parse(text, logger), said: [...said] };
    }
    const reader = suffix === ".pmd" ? PmdReader : PmxReader;
    return { ...model(await reader.ParseAsync(data, logger)), said: [...said] };
  } catch (error) {
    return { error: String(error) };
  }
}

const reports = [];
for (const path of JSON.parse(readFileSync(0, "utf8"))) reports.push(await read(path));
process.stdout.write(JSON.stringify(reports));
