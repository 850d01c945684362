// Reads VRM and VRMA files with three-vrm, without a browser, and says what it found in them.
// Usage: node three_vrm.mjs FOLDER_OF_NODE_MODULES < JSON list of files

import fs from 'node:fs';
import path from 'node:path';
import { pathToFileURL } from 'node:url';

globalThis.self = globalThis;
globalThis.window = globalThis;
console.warn = () => {};
const load = (name) => import(pathToFileURL(path.join(process.argv[2], name)).href);
// three has two builds; the packages import the module build, so must this
const THREE = await load('three/build/three.module.js');
const { GLTFLoader } = await load('three/examples/jsm/loaders/GLTFLoader.js');
const { VRMLoaderPlugin } = await load('@pixiv/three-vrm/lib/three-vrm.module.js');
const { VRMAnimationLoaderPlugin } =
  await load('@pixiv/three-vrm-animation/lib/three-vrm-animation.module.js');

async function read(file) {
  const loader = new GLTFLoader();
  loader.register(() => ({ name: 'blank', loadTexture: async () => new THREE.Texture() }));
  loader.register((parser) => new VRMLoaderPlugin(parser));
  loader.register((parser) => new VRMAnimationLoaderPlugin(parser));
  const data = fs.readFileSync(file);
  return loader.parseAsync(data.buffer.slice(data.byteOffset, data.byteOffset + data.length), '');
}

function describe(gltf) {
  const node = (object) => gltf.parser.associations.get(object)?.nodes ?? null;
  const result = { nodes: gltf.parser.json.nodes.length };
  const vrm = gltf.userData.vrm;
  if (vrm) {
    result.version = vrm.meta.metaVersion;
    result.bones = Object.fromEntries(
      Object.entries(vrm.humanoid.humanBones).map(([name, bone]) => [name, node(bone.node)]));
    result.expressions = vrm.expressionManager?.expressions.map((each) => ({
      name: each.expressionName,
      binary: each.isBinary,
      overrides: [each.overrideMouth, each.overrideBlink, each.overrideLookAt],
      morphs: each._binds.filter((bind) => bind.primitives).map((bind) => [bind.index, bind.weight]),
      binds: each._binds.length,
    })) ?? null;
    const gaze = vrm.lookAt;
    const map = (each) => [each.inputMaxValue, each.outputScale];
    result.gaze = gaze && {
      type: gaze.applier.constructor.type,
      offset: gaze.offsetFromHeadBone.toArray(),
      inner: map(gaze.applier.rangeMapHorizontalInner), outer: map(gaze.applier.rangeMapHorizontalOuter),
      down: map(gaze.applier.rangeMapVerticalDown), up: map(gaze.applier.rangeMapVerticalUp),
    };
    result.joints = [...(vrm.springBoneManager?.joints ?? [])].map((joint) => ({
      node: node(joint.bone),
      child: joint.child && node(joint.child),
      stiffness: joint.settings.stiffness,
      drag: joint.settings.dragForce,
      radius: joint.settings.hitRadius,
      colliders: joint.colliderGroups.flatMap((group) => group.colliders).length,
    }));
    result.constraints = [...(vrm.nodeConstraintManager?.constraints ?? [])].map((each) => ({
      kind: each.constructor.name, node: node(each.destination), source: node(each.source),
      weight: each.weight,
    }));
  }
  const motion = gltf.userData.vrmAnimations?.[0];
  if (motion) {
    const values = (track) => [Array.from(track.times), Array.from(track.values)];
    const maps = (map) => Object.fromEntries([...map].map(([name, track]) => [name, values(track)]));
    result.motion = {
      hips: motion.restHipsPosition.toArray(),
      rotations: maps(motion.humanoidTracks.rotation),
      translations: maps(motion.humanoidTracks.translation),
      presets: maps(motion.expressionTracks.preset),
      customs: maps(motion.expressionTracks.custom),
      gaze: motion.lookAtTrack && values(motion.lookAtTrack),
    };
  }
  return result;
}

const reports = [];
for (const file of JSON.parse(fs.readFileSync(0, 'utf8'))) {
  try {
    reports.push(describe(await read(file)));
  } catch (error) {
    reports.push({ error: String(error.stack ?? error) });
  }
}
process.stdout.write(JSON.stringify(reports));
