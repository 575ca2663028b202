// Runs a program built for wasm (an ES module) in node, on the WebGPU of npm's `webgpu`:
//
//   node run.mjs <node_modules> <program.mjs> [arguments]
//
// The program ends itself with exit() or emscripten_force_exit; one that does not within two minutes has
// failed. The GPU keeps node's event loop alive, so ending means process.exit.

import path from 'node:path';
import process from 'node:process';
import {pathToFileURL} from 'node:url';

const [modules, program, ...programArguments] = process.argv.slice(2);
const entry = path.resolve(modules, 'webgpu', 'index.js');
const {create, globals} = await import(pathToFileURL(entry).href);
Object.assign(globalThis, globals);
// Newer nodes have a navigator of their own, which cannot be assigned to.
Object.defineProperty(globalThis, 'navigator', {value: {gpu: create([])}, configurable: true});

setTimeout(() => {
  console.error(`${program}: no answer after two minutes`);
  process.exit(124);
}, 120_000);

const {default: start} = await import(pathToFileURL(path.resolve(program)).href);
await start({arguments: programArguments, onExit: (code) => process.exit(code)});
