// Runs the meshoptimizer package on a batch of jobs, for test_meshopt.py.
// usage: node meshopt_peer.mjs PACKAGE_FOLDER < jobs.json > results.json
// A job: { mode, filter, count, stride, version, level, bits, source } with `source` in base64:
// the elements to encode, or, with a filter and `bits`, the float32 components to quantise first.
// Its result: { stream, decoded } in base64.
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const { MeshoptEncoder: encoder, MeshoptDecoder: decoder } = await import(
  pathToFileURL(process.argv[2] + "/index.js").href
);
await Promise.all([encoder.ready, decoder.ready]);

const quantise = {
  OCTAHEDRAL: "encodeFilterOct",
  QUATERNION: "encodeFilterQuat",
  EXPONENTIAL: "encodeFilterExp",
  COLOR: "encodeFilterColor",
};

function run({ mode, filter, count, stride, version, level, bits, source }) {
  let elements = new Uint8Array(Buffer.from(source, "base64"));
  if (filter && bits) {
    elements = encoder[quantise[filter]](new Float32Array(elements.buffer), count, stride, bits);
  }
  const stream =
    mode === "ATTRIBUTES"
      ? encoder.encodeVertexBufferLevel(elements, count, stride, level, version)
      : encoder.encodeGltfBuffer(elements, count, stride, mode);
  const decoded = new Uint8Array(count * stride);
  decoder.decodeGltfBuffer(decoded, count, stride, stream, mode, filter ?? "NONE");
  const text = (bytes) => Buffer.from(bytes).toString("base64");
  return { stream: text(stream), decoded: text(decoded) };
}

process.stdout.write(JSON.stringify(JSON.parse(readFileSync(0, "utf8")).map(run)));
