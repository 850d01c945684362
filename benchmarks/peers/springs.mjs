// Springs in three-vrm: a crowd of one rig, run each time that a line comes in.
//
// node springs.mjs NODE_MODULES < lines; the first line is the rig as JSON, every other one runs
// the whole motion and answers with the seconds it took and the last rotations of the first member.
import { createInterface } from 'node:readline';
import { pathToFileURL } from 'node:url';

const load = (file) => import(pathToFileURL(`${process.argv[2]}/${file}`));
const { Object3D, Vector3 } = await load('three/build/three.module.js');
const springs = await load('@pixiv/three-vrm-springbone/lib/three-vrm-springbone.module.js');

function member(rig) {
  const nodes = rig.translations.map((place) => {
    const node = new Object3D();
    node.position.set(...place);
    return node;
  });
  const root = new Object3D();
  rig.parents.forEach((parent, i) => (parent < 0 ? root : nodes[parent]).add(nodes[i]));
  const colliders = rig.colliders.map((given) => {
    const offset = new Vector3(...given.offset);
    const shape = given.tail
      ? new springs.VRMSpringBoneColliderShapeCapsule({ offset, tail: new Vector3(...given.tail), radius: given.radius })
      : new springs.VRMSpringBoneColliderShapeSphere({ offset, radius: given.radius });
    const collider = new springs.VRMSpringBoneCollider(shape);
    nodes[given.node].add(collider);
    return collider;
  });
  const manager = new springs.VRMSpringBoneManager();
  for (const given of rig.joints) {
    const settings = {
      stiffness: given.stiffness, gravityPower: given.gravity, gravityDir: new Vector3(0, -1, 0),
      dragForce: given.drag, hitRadius: given.radius,
    };
    const group = { colliders };
    manager.addJoint(new springs.VRMSpringBoneJoint(nodes[given.node], nodes[given.child], settings, [group]));
  }
  root.updateMatrixWorld(true);
  manager.setInitState();
  return { root, nodes, manager };
}

let crowd, rig;
for await (const line of createInterface({ input: process.stdin })) {
  if (!rig) {
    rig = JSON.parse(line);
    crowd = Array.from({ length: rig.crowd }, () => member(rig));
    console.log('ready');
    continue;
  }
  for (const each of crowd) {
    each.nodes[0].position.set(...rig.motion[0]);
    each.root.updateMatrixWorld(true);
    each.manager.reset();
  }
  const start = process.hrtime.bigint();
  for (let frame = 1; frame < rig.motion.length; ++frame) {
    for (const each of crowd) {
      each.nodes[0].position.set(...rig.motion[frame]);
      each.root.updateMatrixWorld(true);
      each.manager.update(1 / 60);
    }
  }
  const seconds = Number(process.hrtime.bigint() - start) / 1e9;
  const turns = rig.joints.map((joint) => crowd[0].nodes[joint.node].quaternion.toArray());
  console.log(JSON.stringify({ seconds, turns }));
}
