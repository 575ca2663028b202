// The C functions of web/src/api.cpp as JavaScript, in node on npm's `webgpu`.

import path from 'node:path';
import {pathToFileURL} from 'node:url';

// By number, as in src/ir/dtype.h.
export const DTYPES = ['bool', 'uint8', 'int8', 'int32', 'float16', 'float32', 'int64', 'float64'];

// Starts `program`, an etwebgpu_web.mjs, on the WebGPU under the folder `modules`. `devices` are the GPUDevices that
// it makes.
export async function start(modules, program) {
  const {create, globals} = await import(pathToFileURL(path.resolve(modules, 'webgpu', 'index.js')).href);
  Object.assign(globalThis, globals);
  Object.defineProperty(globalThis, 'navigator', {value: {gpu: create([])}, configurable: true});
  const devices = [];
  const {requestDevice} = GPUAdapter.prototype;
  GPUAdapter.prototype.requestDevice = async function(...args) {
    devices.push(await requestDevice.apply(this, args));
    return devices.at(-1);
  };

  const {default: startModule} = await import(pathToFileURL(path.resolve(program)).href);
  const waiting = new Map();
  const wasm = await startModule({
    onRequestDone(request, handle, error) {
      const {resolve, reject} = waiting.get(request);
      waiting.delete(request);
      error === null ? resolve(handle) : reject(new Error(error));
    },
  });
  let last = 0;
  const request = (call) => new Promise((resolve, reject) => {
    waiting.set(++last, {resolve, reject});
    call(last);
  });
  return {wasm, devices, load: (bytes, method) => Model.load(wasm, request, bytes, method)};
}

class Model {
  static async load(wasm, request, bytes, method) {
    const handle = await request((id) => {
      const file = wasm._malloc(bytes.length) >>> 0;
      wasm.HEAPU8.set(bytes, file);
      const name = method ? wasm.stringToNewUTF8(method) : 0;
      wasm._etwg_load(id, file, bytes.length, name);
      wasm._free(name);
    });
    return new Model(wasm, request, handle);
  }

  constructor(wasm, request, handle) {
    Object.assign(this, {wasm, request, handle});
  }

  describe() {
    return JSON.parse(this.wasm.UTF8ToString(this.#accepted(this.wasm._etwg_describe(this.handle))));
  }

  setInput(index, {dtype, dims, bytes}) {
    this.#withNumbers((numbers) => {
      this.wasm.HEAP32.set(dims, numbers / 4);
      const type = DTYPES.indexOf(dtype);
      const room = this.#accepted(this.wasm._etwg_input(this.handle, index, type, dims.length, numbers));
      this.wasm.HEAPU8.set(bytes, room);
    });
  }

  run() {
    return this.request((id) => this.wasm._etwg_run(id, this.handle));
  }

  output(index) {
    return this.#withNumbers((numbers) => {
      const data = this.#accepted(this.wasm._etwg_output(this.handle, index, numbers));
      const [dtype, size, rank, ...dims] = this.wasm.HEAP32.slice(numbers / 4, numbers / 4 + 11);
      return {dtype: DTYPES[dtype], dims: dims.slice(0, rank), bytes: this.wasm.HEAPU8.slice(data, data + size)};
    });
  }

  unload() {
    this.wasm._etwg_unload(this.handle);
  }

  #accepted(pointer) {
    if (!pointer) {
      throw new Error(this.wasm.UTF8ToString(this.wasm._etwg_error()));
    }
    return pointer >>> 0;
  }

  // Memory for 16 numbers, while `use` runs.
  #withNumbers(use) {
    const pointer = this.wasm._malloc(64) >>> 0;
    try {
      return use(pointer);
    } finally {
      this.wasm._free(pointer);
    }
  }
}
