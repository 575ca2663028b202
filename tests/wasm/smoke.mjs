// Runs exported programs as wasm in node and compares with eager PyTorch:
//
//   node smoke.mjs <node_modules> <etwebgpu_web.mjs> <folder of export_smoke.py>
//
// Prints a line a program; exits with 1 when any number is wrong or any program does not run.

import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';
import {pathToFileURL} from 'node:url';

const DTYPES = ['bool', 'uint8', 'int8', 'int32', 'float16', 'float32', 'int64', 'float64'];
const [modules, program, folder] = process.argv.slice(2);

const {create, globals} = await import(pathToFileURL(path.resolve(modules, 'webgpu', 'index.js')).href);
Object.assign(globalThis, globals);
Object.defineProperty(globalThis, 'navigator', {value: {gpu: create([])}, configurable: true});

const {default: start} = await import(pathToFileURL(path.resolve(program)).href);
const waiting = new Map();
let last = 0;
const wasm = await start({
  onRequestDone(request, handle, error) {
    const {resolve, reject} = waiting.get(request);
    waiting.delete(request);
    if (error) {
      reject(new Error(error));
    } else {
      resolve(handle);
    }
  },
});

function request(call) {
  return new Promise((resolve, reject) => {
    waiting.set(++last, {resolve, reject});
    call(last);
  });
}

function withMemory(size, use) {
  const pointer = wasm._malloc(size);
  try {
    return use(pointer);
  } finally {
    wasm._free(pointer);
  }
}

function setInput(model, index, {dtype, dims, file}) {
  const bytes = fs.readFileSync(path.join(folder, file));
  withMemory(32, (pointer) => {
    wasm.HEAP32.set(dims, pointer / 4);
    const room = wasm._etwg_input(model, index, DTYPES.indexOf(dtype), dims.length, pointer);
    if (!room && bytes.length) {
      throw new Error(`input ${index} is refused`);
    }
    wasm.HEAPU8.set(bytes, room);
  });
}

// The largest difference of output `index` from what is expected, all of float32.
function difference(model, index, {dtype, dims, file}) {
  return withMemory(44, (pointer) => {
    const data = wasm._etwg_output(model, index, pointer);
    const [type, bytes, rank, ...sizes] = wasm.HEAP32.slice(pointer / 4, pointer / 4 + 11);
    const found = `${DTYPES[type]} [${sizes.slice(0, rank)}]`;
    if (found !== `${dtype} [${dims}]`) {
      throw new Error(`output ${index} is ${found}, expected ${dtype} [${dims}]`);
    }
    const values = new Float32Array(wasm.HEAPU8.slice(data, data + bytes).buffer);
    const expected = new Float32Array(new Uint8Array(fs.readFileSync(path.join(folder, file))).buffer);
    let largest = 0;
    for (let i = 0; i < expected.length; i++) {
      const error = Math.abs(values[i] - expected[i]);
      largest = error <= largest ? largest : error;  // a NaN stays
    }
    return largest;
  });
}

async function check({name, program: file, tolerance, runs}) {
  const bytes = fs.readFileSync(path.join(folder, file));
  const model = await request((id) => {
    const pointer = wasm._malloc(bytes.length);
    wasm.HEAPU8.set(bytes, pointer);
    wasm._etwg_load(id, pointer, bytes.length);
  });
  let largest = 0;
  for (const {inputs, outputs} of runs) {
    inputs.forEach((input, i) => setInput(model, i, input));
    await request((id) => wasm._etwg_run(id, model));
    for (const [i, output] of outputs.entries()) {
      const error = difference(model, i, output);
      if (!(error <= tolerance)) {
        throw new Error(`output ${i} differs by ${error}, tolerance ${tolerance}`);
      }
      largest = Math.max(largest, error);
    }
  }
  wasm._etwg_unload(model);
  return `${runs.length} runs, largest difference ${largest}`;
}

let failed = 0;
const cases = JSON.parse(fs.readFileSync(path.join(folder, 'cases.json')));
for (const entry of cases) {
  try {
    console.log(`${entry.name}: ${await check(entry)}`);
  } catch (error) {
    failed++;
    console.error(`${entry.name}: FAILED: ${error.message}`);
  }
}
console.log(`${cases.length - failed} passed, ${failed} failed`);
process.exit(failed || !cases.length ? 1 : 0);
