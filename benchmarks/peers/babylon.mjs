// Plays a VMD on a PMX with babylon-mmd's own runtime, and says how long it took.
// Its modules name each other without a suffix, as bundlers like it: Node has to be told.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const hook = `export async function resolve(name, context, next) {
  try { return await next(name, context); }
  catch (error) {
    if (/^[.]|^@babylonjs|^babylon-mmd/.test(name)) return next(name + ".js", context);
    throw error;
  }
}`;
register("data:text/javascript," + encodeURIComponent(hook));
const [modules, modelPath, motionPath] = process.argv.slice(2);
const from = (name) => import(pathToFileURL(`${modules}/${name}.js`).href);

globalThis.XMLHttpRequest ??= class {};
const { NullEngine } = await from("@babylonjs/core/Engines/nullEngine");
const { Scene } = await from("@babylonjs/core/scene");
const { LoadAssetContainerAsync } = await from("@babylonjs/core/Loading/sceneLoader");
await from("babylon-mmd/esm/Loader/pmxLoader");
await from("babylon-mmd/esm/Runtime/Animation/mmdRuntimeModelAnimation");
const { VmdLoader } = await from("babylon-mmd/esm/Loader/vmdLoader");
const { MmdModel } = await from("babylon-mmd/esm/Runtime/mmdModel");

const scene = new Scene(new NullEngine());
const bytes = (path) => new Uint8Array(readFileSync(path));
const container = await LoadAssetContainerAsync(bytes(modelPath), scene, {
  pluginExtension: ".pmx",
  pluginOptions: { mmdmodel: { materialBuilder: null, useSdef: false, loggingEnabled: false } },
});
container.addAllToScene();
const mesh = container.rootNodes[0] ?? container.meshes[0];
const quiet = { log() {}, warn() {}, error() {} };
const model = new MmdModel(mesh, mesh.metadata.skeleton, null, null, false, quiet);
const loader = new VmdLoader(scene);
const buffer = bytes(motionPath).buffer;
const motion = await loader.loadFromBufferAsync("motion", buffer);
model.setRuntimeAnimation(model.createRuntimeAnimation(motion));

// A line in is a number of frames to play; a line out the seconds of processor time, and where the bones are at last.
for await (const line of createInterface({ input: process.stdin })) {
  const frames = Number(line);
  const start = process.cpuUsage();
  for (let frame = 0; frame < frames; ++frame) {
    model.beforePhysics(frame);
    model.afterPhysics();
  }
  const used = process.cpuUsage(start);
  const seconds = (used.user + used.system) / 1e6;
  console.log(JSON.stringify({ seconds, world: [...model.worldTransformMatrices] }));
}
