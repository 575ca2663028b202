// Runs exported programs as wasm in node, compares with eager PyTorch, and misuses the C API:
//
//   node smoke.mjs <node_modules> <etwebgpu_web.mjs> <folder of export_smoke.py>
//
// Prints a line a check; exits with 1 when any fails.

import assert from 'node:assert/strict';
import fs from 'node:fs';
import path from 'node:path';
import process from 'node:process';

import {start} from './model.mjs';

const ARRAYS = {float32: Float32Array, int64: BigInt64Array};
const [modules, program, folder] = process.argv.slice(2);
const read = (name) => new Uint8Array(fs.readFileSync(path.join(folder, name)));
const cases = JSON.parse(fs.readFileSync(path.join(folder, 'cases.json')));
const {wasm, devices, load} = await start(modules, program);

const find = (name, method = 'forward') => cases.find((each) => each.name === name && each.method === method);
const loadCase = (entry) => load(read(entry.program), entry.method);

function setInputs(model, {inputs}) {
  inputs.forEach((input, i) => model.setInput(i, {...input, bytes: read(input.file)}));
}

// The largest difference between the model's outputs and those of the run; more than the tolerance is an error.
function checkOutputs(model, {outputs}, tolerance) {
  let largest = 0;
  for (const [i, expected] of outputs.entries()) {
    const {bytes, ...type} = model.output(i);
    assert.deepEqual(type, {dtype: expected.dtype, dims: expected.dims});
    const wanted = new ARRAYS[type.dtype](read(expected.file).buffer);
    const found = new ARRAYS[type.dtype](bytes.buffer);
    assert.equal(found.length, wanted.length);
    for (let k = 0; k < wanted.length; k++) {
      const error = Math.abs(Number(found[k]) - Number(wanted[k]));
      assert.ok(error <= tolerance, `output ${i} differs by ${error}, tolerance ${tolerance}`);
      largest = Math.max(largest, error);
    }
  }
  assert.throws(() => model.output(outputs.length), /there is no output/);
  return largest;
}

async function checkRun(model, run, tolerance) {
  setInputs(model, run);
  await model.run();
  return checkOutputs(model, run, tolerance);
}

async function checkCase(entry) {
  const model = await loadCase(entry);
  // What takes the place of the file's bytes must not matter.
  const size = read(entry.program).length;
  const pointer = wasm._malloc(size) >>> 0;
  wasm.HEAPU8.fill(0xff, pointer, pointer + size);
  wasm._free(pointer);
  let largest = 0;
  for (const run of entry.runs) {
    largest = Math.max(largest, await checkRun(model, run, entry.tolerance));
  }
  model.unload();
  return `${entry.runs.length} runs, largest difference ${largest}`;
}

const checks = {
  async 'a model describes itself'() {
    const add = await loadCase(find('add'));
    const {device, gpu_bytes: memory, ...rest} = add.describe();
    const tensor = {dtype: 'float32', dims: [3, 5], dynamism: 'static'};
    assert.deepEqual(rest, {inputs: [tensor, tensor], outputs: [tensor]});
    assert.ok(memory >= 3 * 60, `${memory} bytes`);
    assert.ok(device.name.length > 0 && device.limits.max_buffer_size > 0, JSON.stringify(device));
    const two = await loadCase(find('two_delegates'));
    const bounded = {dtype: 'float32', dims: [6, 3], dynamism: 'bounded'};
    const integer = {dtype: 'int64', dims: [], dynamism: 'static'};
    const {inputs, outputs} = two.describe();
    assert.deepEqual({inputs, outputs}, {inputs: [bounded, bounded], outputs: [bounded, bounded, integer]});
    add.unload();
    two.unload();
  },

  async 'files that cannot be loaded'() {
    await assert.rejects(load(read('add.pte'), 'backward'), /no method backward; it has forward, subtract/);
    await assert.rejects(load(new Uint8Array(100)), /program/);
    await assert.rejects(load(read('self_output.pte').slice(0, 5000)), /program/);
  },

  async 'inputs that do not fit, then a run'() {
    for (const [name, tooLarge, message] of [
           ['add', [4, 5], /^input 1 has sizes \[4, 5\], the program takes \[3, 5\]$/],
           ['two_delegates', [7, 3], /^input 1 has sizes \[7, 3\], the program takes up to \[6, 3\]$/],
         ]) {
      const entry = find(name);
      const model = await loadCase(entry);
      const {dims} = entry.runs[0].inputs[1];
      const refused = (index, dtype, sizes, why) =>
          assert.throws(() => model.setInput(index, {dtype, dims: sizes, bytes: []}), why);
      await assert.rejects(model.run(), /^Error: input 0 was not given$/);
      await checkRun(model, entry.runs[0], entry.tolerance);
      refused(1, 'int32', dims, /^Error: input 1 has type int32, the program takes float32$/);
      refused(1, 'no dtype', dims, /input 1 has the unknown dtype -1/);
      refused(1, 'float32', [-1, 3], /input 1 cannot have sizes \[-1, 3\]/);
      refused(1, 'float32', Array(8).fill(2 ** 31 - 1), /input 1 cannot have sizes/);
      refused(1, 'float32', Array(9).fill(1), /input 1 has 9 dimensions/);
      refused(2, 'float32', dims, /there is no input 2: method forward takes 2/);
      refused(1, 'float32', tooLarge, new RegExp(message.source.replace('^', '^Error: ')));
      await assert.rejects(model.run(), /input 1 was not given/);
      assert.throws(() => model.output(0), /there is no output 0/, 'nothing stale after a run that failed');
      await checkRun(model, entry.runs[0], entry.tolerance);
      model.unload();
    }
  },

  async 'a run that fails on its way, then another'() {
    const entry = find('two_delegates');
    const model = await loadCase(entry);
    // Few enough elements for the method, sizes that the first delegate has no room for.
    for (const i of [0, 1]) {
      model.setInput(i, {dtype: 'float32', dims: [2, 9], bytes: new Uint8Array(72)});
    }
    await assert.rejects(model.run(), /input 0 has sizes \[2, 9\]/);
    await checkRun(model, entry.runs[1], entry.tolerance);
    // Sizes that do not go together.
    setInputs(model, entry.runs[0]);
    model.setInput(1, {...entry.runs[1].inputs[1], bytes: read(entry.runs[1].inputs[1].file)});
    await assert.rejects(model.run(), /./);
    await checkRun(model, entry.runs[2], entry.tolerance);
    model.unload();
  },

  async 'a run and another of the same model'() {
    const {runs: [run], tolerance, ...entry} = find('two_delegates');
    const model = await loadCase(entry);
    setInputs(model, run);
    const first = model.run();
    await assert.rejects(model.run(), /is running already/);
    assert.throws(() => setInputs(model, run), /input 0 cannot change while the model runs/);
    assert.throws(() => model.output(0), /there is no output 0/);
    await first;
    checkOutputs(model, run, tolerance);
    await model.run();  // on the inputs that are there
    checkOutputs(model, run, tolerance);
    model.unload();
  },

  async 'models at once, on one device'() {
    const before = devices.length;
    const entries = [find('two_delegates'), find('self_output'), find('add', 'subtract'), find('self_output')];
    const models = await Promise.all(entries.map(loadCase));
    assert.equal(devices.length, before + 1);
    for (let i = 0; i < 3; i++) {
      await Promise.all(models.map((model, k) => {
        const {runs, tolerance} = entries[k];
        return checkRun(model, runs[i % runs.length], tolerance);
      }));
    }
    models.forEach((model) => model.unload());
  },

  async 'unloading'() {
    const entry = find('two_delegates');
    const [model, other] = await Promise.all([loadCase(entry), loadCase(entry)]);
    setInputs(model, entry.runs[0]);
    const running = model.run();
    model.unload();
    await assert.rejects(running, /unloaded while it ran/);
    const gone = /there is no model/;
    await assert.rejects(model.run(), gone);
    for (const call of [() => model.describe(), () => setInputs(model, entry.runs[0]), () => model.output(0)]) {
      assert.throws(call, gone);
    }
    model.unload();  // once more does nothing
    await checkRun(other, entry.runs[1], entry.tolerance);
    other.unload();
  },

  async 'a lost device, then a load'() {
    const {runs: [run], tolerance, ...entry} = find('two_delegates');
    const model = await loadCase(entry);
    await checkRun(model, run, tolerance);
    devices.at(-1).destroy();
    await devices.at(-1).lost;
    await assert.rejects(model.run(), /was lost/);
    const again = await loadCase(entry);
    await checkRun(again, run, tolerance);
    await assert.rejects(model.run(), /was lost/);
    model.unload();
    again.unload();
  },
};

let failed = 0;
async function report(name, check) {
  try {
    console.log(`${name}: ${await check() ?? 'ok'}`);
  } catch (error) {
    failed++;
    console.error(`${name}: FAILED: ${error.stack}`);
  }
}
for (const entry of cases) {
  await report(`${entry.name}, ${entry.method}`, () => checkCase(entry));
}
for (const [name, check] of Object.entries(checks)) {
  await report(name, check);
}
console.log(`${failed} failed`);
process.exit(failed || !cases.length ? 1 : 0);
