/**
 * The JavaScript half of the compute-only webgpu.h on navigator.gpu (see README.md): an Emscripten JS
 * library. C++ reads the structs of webgpu.h and calls these functions with plain values; a handle is an
 * index into `shim.slots`, 0 is no object. In `__sig`, i is int32, d double (sizes and 64-bit integers), p
 * a pointer.
 *
 * WebGPU reports wrong use through error scopes, but some wrong arguments make the JS call throw instead.
 * webgpu.h knows no exceptions, so `shim.attempt` files a thrown error in the innermost error scope of the
 * device concerned, or with its uncaptured-error callback, as a validation error.
 */
addToLibrary({
  $shim__deps: [
    '$UTF8ToString', '$callUserCallback', 'etwg_shim_uncaptured', 'etwg_shim_settle', 'etwg_shim_lost',
  ],
  $shim: {
    // {value, refs, device: the handle of the device it belongs to}. Calls on 0, which stands for what could
    // not be made, do nothing: why it could not is filed already.
    slots: [{value: undefined, refs: Infinity, device: 0}],
    free: [],
    text: '',      // what the C++ half fetches with etwg_js_take_text during a callback
    messages: [],  // the compilation messages of the callback in progress

    add(value, device) {
      const slot = {value, refs: 1, device};
      const handle = shim.free.pop() ?? shim.slots.length;
      shim.slots[handle] = slot;
      return handle;
    },

    remove(handle) {
      shim.slots[handle] = null;
      shim.free.push(handle);
    },

    get(handle) {
      return shim.slots[handle]?.value;
    },

    // Runs make() and returns the handle of what it made, or 0 after filing what it threw.
    create(device, make) {
      return shim.attempt(device, () => shim.add(make(), device)) ?? 0;
    },

    attempt(device, call) {
      try {
        return call();
      } catch (error) {
        shim.file(device, error);
        return undefined;
      }
    },

    // Makes an asynchronous call now, for its arguments may be released and other calls may follow; what it
    // throws becomes the promise's rejection, so that nothing settles before the caller has returned.
    start(call) {
      try {
        return Promise.resolve(call());
      } catch (error) {
        return Promise.reject(error);
      }
    },

    file(device, error) {
      const slot = shim.slots[device];
      if (!slot) {
        console.error(error);
        return;
      }
      const scope = slot.scopes?.at(-1);
      if (scope) {
        scope.thrown ??= error;
      } else {
        shim.uncaptured(device, error);
      }
    },

    uncaptured(device, error) {
      shim.text = error.message;
      callUserCallback(() => _etwg_shim_uncaptured(device, shim.errorKind(error)));
    },

    // 0 none, 1 validation, 2 out of memory, 3 internal. dawn.node's classes are not on globalThis, so
    // the class is told by name.
    errorKind(error) {
      if (!error) {
        return 0;
      }
      const name = error.constructor?.name ?? '';
      // RangeError: no memory to map a buffer at creation.
      return name.includes('OutOfMemory') || name === 'RangeError' ? 2 : name.includes('Internal') ? 3 : 1;
    },

    label(pointer, length) {
      return pointer ? UTF8ToString(pointer, length) : '';
    },

    // Ends the C++ side's pending call; status 0 is success.
    settle(pending, status, object, text) {
      shim.text = text ?? '';
      callUserCallback(() => _etwg_shim_settle(pending, status, object));
    },
  },

  etwg_js_take_text__deps: ['$shim', '$stringToNewUTF8'],
  etwg_js_take_text__sig: 'p',
  etwg_js_take_text: () => stringToNewUTF8(shim.text),

  // --- Objects ---------------------------------------------------------------------------------------

  etwg_js_add_ref__deps: ['$shim'],
  etwg_js_add_ref__sig: 'vi',
  etwg_js_add_ref: (handle) => {
    shim.slots[handle].refs++;
  },

  // The references that are left. Like natively, a device ends with its last one; its slot stays taken
  // until the loss that this causes was told.
  etwg_js_release__deps: ['$shim'],
  etwg_js_release__sig: 'ii',
  etwg_js_release: (handle) => {
    const slot = shim.slots[handle];
    if (--slot.refs === 0) {
      if (slot.opened && !slot.lost) {
        slot.value.destroy();
      } else {
        shim.remove(handle);
      }
    }
    return slot.refs;
  },

  etwg_js_set_label__deps: ['$shim'],
  etwg_js_set_label__sig: 'vipi',
  etwg_js_set_label: (handle, label, length) => {
    shim.get(handle).label = shim.label(label, length);
  },

  // --- Instance and adapter --------------------------------------------------------------------------

  etwg_js_has_language_feature__deps: ['$shim'],
  etwg_js_has_language_feature__sig: 'ip',
  etwg_js_has_language_feature: (name) =>
      globalThis.navigator?.gpu?.wgslLanguageFeatures?.has(UTF8ToString(name)) ? 1 : 0,

  etwg_js_request_adapter__deps: ['$shim'],
  etwg_js_request_adapter__sig: 'vipi',
  etwg_js_request_adapter: (pending, powerPreference, forceFallback) => {
    const gpu = globalThis.navigator?.gpu;
    const options = {forceFallbackAdapter: !!forceFallback};
    if (powerPreference) {
      options.powerPreference = UTF8ToString(powerPreference);
    }
    shim.start(() => gpu?.requestAdapter(options))
        .then(
            (adapter) => adapter ?
                shim.settle(pending, 0, shim.add(adapter, 0)) :
                shim.settle(pending, 1, 0, gpu ? 'no WebGPU adapter' : 'this environment has no WebGPU'),
            (error) => shim.settle(pending, 2, 0, error.message));
  },

  etwg_js_has_feature__deps: ['$shim'],
  etwg_js_has_feature__sig: 'iip',
  etwg_js_has_feature: (handle, name) => shim.get(handle).features.has(UTF8ToString(name)) ? 1 : 0,

  // -1 where this environment does not know the limit.
  etwg_js_limit__deps: ['$shim'],
  etwg_js_limit__sig: 'dip',
  etwg_js_limit: (handle, name) => shim.get(handle).limits[UTF8ToString(name)] ?? -1,

  etwg_js_info_number__deps: ['$shim'],
  etwg_js_info_number__sig: 'iip',
  etwg_js_info_number: (handle, name) => {
    const object = shim.get(handle);
    return Number((object.info ?? object.adapterInfo)?.[UTF8ToString(name)] ?? 0);
  },

  etwg_js_info_text__deps: ['$shim', '$stringToNewUTF8'],
  etwg_js_info_text__sig: 'pip',
  etwg_js_info_text: (handle, name) => {
    const object = shim.get(handle);
    return stringToNewUTF8((object.info ?? object.adapterInfo)?.[UTF8ToString(name)] ?? '');
  },

  // requirements: JSON {requiredFeatures, requiredLimits}. The new device's handle is passed to `settle`;
  // the C++ half has its callbacks in place from then on, before any other event can arrive.
  etwg_js_request_device__deps: ['$shim'],
  etwg_js_request_device__sig: 'viippi',
  etwg_js_request_device: (adapter, pending, requirements, label, labelLength) => {
    const descriptor = JSON.parse(UTF8ToString(requirements));
    descriptor.label = shim.label(label, labelLength);
    const opened = (device) => {
      const handle = shim.add(device, 0);
      const slot = Object.assign(shim.slots[handle], {device: handle, opened: true, scopes: [], queue: 0});
      device.addEventListener('uncapturederror', (event) => {
        event.preventDefault?.();  // the callback's now, not the console's
        if (slot.refs > 0) {
          shim.uncaptured(handle, event.error);
        }
      });
      shim.settle(pending, 0, handle);
      device.lost.then((info) => {
        slot.lost = true;
        shim.text = info.message;
        const released = slot.refs === 0;
        const destroyed = info.reason === 'destroyed';
        callUserCallback(() => _etwg_shim_lost(handle, destroyed ? 1 : 0, released ? 1 : 0));
        if (released) {
          shim.remove(handle);
        }
      });
    };
    shim.start(() => shim.get(adapter).requestDevice(descriptor))
        .then(opened, (error) => shim.settle(pending, 1, 0, error.message));
  },

  // --- Device ----------------------------------------------------------------------------------------

  etwg_js_destroy__deps: ['$shim'],
  etwg_js_destroy__sig: 'vi',
  etwg_js_destroy: (handle) => shim.get(handle).destroy(),

  etwg_js_get_queue__deps: ['$shim'],
  etwg_js_get_queue__sig: 'ii',
  etwg_js_get_queue: (device) => {
    const slot = shim.slots[device];
    const known = shim.slots[slot.queue];
    if (known?.device === device && known.isQueue) {
      known.refs++;
    } else {
      slot.queue = shim.add(slot.value.queue, device);
      shim.slots[slot.queue].isQueue = true;
    }
    return slot.queue;
  },

  etwg_js_push_error_scope__deps: ['$shim'],
  etwg_js_push_error_scope__sig: 'vip',
  etwg_js_push_error_scope: (device, filter) => {
    const slot = shim.slots[device];
    slot.scopes.push({thrown: null});
    slot.value.pushErrorScope(UTF8ToString(filter));
  },

  etwg_js_pop_error_scope__deps: ['$shim'],
  etwg_js_pop_error_scope__sig: 'vii',
  etwg_js_pop_error_scope: (device, pending) => {
    const slot = shim.slots[device];
    const scope = slot.scopes.pop();
    shim.start(() => slot.value.popErrorScope())
        .then(
            (error) => {
              const found = error ?? scope?.thrown;
              shim.settle(pending, 0, shim.errorKind(found), found?.message);
            },
            (error) => shim.settle(pending, 1, 0, error.message));
  },

  etwg_js_create_shader_module__deps: ['$shim'],
  etwg_js_create_shader_module__sig: 'iipipi',
  etwg_js_create_shader_module: (device, code, codeLength, label, labelLength) =>
      shim.create(device, () => shim.get(device).createShaderModule({
        code: shim.label(code, codeLength),
        label: shim.label(label, labelLength),
      })),

  etwg_js_compilation_info__deps: ['$shim'],
  etwg_js_compilation_info__sig: 'vii',
  etwg_js_compilation_info: (module, pending) => {
    const object = shim.get(module);
    shim.start(() => object.getCompilationInfo())
        .then(
            (info) => {
              shim.messages = [...info.messages];
              shim.settle(pending, 0, shim.messages.length);
              shim.messages = [];
            },
            (error) => shim.settle(pending, 1, 0, error.message));
  },

  // Valid inside the callback of etwg_js_compilation_info: fills numbers = {type, line, position, offset,
  // length} (type 0 error, 1 warning, 2 info) and returns the text.
  etwg_js_compilation_message__deps: ['$shim', '$stringToNewUTF8'],
  etwg_js_compilation_message__sig: 'pip',
  etwg_js_compilation_message: (index, numbers) => {
    const message = shim.messages[index];
    const type = ['error', 'warning', 'info'].indexOf(message.type);
    HEAPF64.set([type, message.lineNum, message.linePos, message.offset, message.length], numbers / 8);
    return stringToNewUTF8(message.message);
  },

  // entries: doubles, five an entry: binding, visibility, type (0 uniform, 1 storage, 2 read-only storage),
  // has dynamic offset, least binding size.
  etwg_js_create_bind_group_layout__deps: ['$shim'],
  etwg_js_create_bind_group_layout__sig: 'iipipi',
  etwg_js_create_bind_group_layout: (device, entries, count, label, labelLength) =>
      shim.create(device, () => {
        const list = [];
        for (let i = 0, at = entries / 8; i < count; i++, at += 5) {
          list.push({
            binding: HEAPF64[at],
            visibility: HEAPF64[at + 1],
            buffer: {
              type: ['uniform', 'storage', 'read-only-storage'][HEAPF64[at + 2]],
              hasDynamicOffset: HEAPF64[at + 3] !== 0,
              minBindingSize: HEAPF64[at + 4],
            },
          });
        }
        return shim.get(device).createBindGroupLayout({entries: list, label: shim.label(label, labelLength)});
      }),

  etwg_js_create_pipeline_layout__deps: ['$shim'],
  etwg_js_create_pipeline_layout__sig: 'iipipi',
  etwg_js_create_pipeline_layout: (device, layouts, count, label, labelLength) =>
      shim.create(device, () => {
        const handles = Array.from(HEAP32.subarray(layouts / 4, layouts / 4 + count));
        return shim.get(device).createPipelineLayout({
          bindGroupLayouts: handles.map((handle) => shim.get(handle)),
          label: shim.label(label, labelLength),
        });
      }),

  $shimPipeline__deps: ['$shim'],
  $shimPipeline: (layout, module, entry, entryLength, constants, label, labelLength) => {
    const compute = {module: shim.get(module)};
    if (entry) {
      compute.entryPoint = UTF8ToString(entry, entryLength);
    }
    if (constants) {
      compute.constants = JSON.parse(UTF8ToString(constants));
    }
    return {
      layout: layout ? shim.get(layout) : 'auto',
      compute,
      label: shim.label(label, labelLength),
    };
  },

  // constants: JSON {name: value}, or null.
  etwg_js_create_compute_pipeline__deps: ['$shim', '$shimPipeline'],
  etwg_js_create_compute_pipeline__sig: 'iiiipippi',
  etwg_js_create_compute_pipeline: (
      device, layout, module, entry, entryLength, constants, label, labelLength) =>
      shim.create(device, () => shim.get(device).createComputePipeline(
          shimPipeline(layout, module, entry, entryLength, constants, label, labelLength))),

  etwg_js_create_compute_pipeline_async__deps: ['$shim', '$shimPipeline'],
  etwg_js_create_compute_pipeline_async__sig: 'viiiipippi',
  etwg_js_create_compute_pipeline_async: (
      device, pending, layout, module, entry, entryLength, constants, label, labelLength) => {
    // Read now: the strings are the caller's.
    const descriptor = shimPipeline(layout, module, entry, entryLength, constants, label, labelLength);
    shim.start(() => shim.get(device).createComputePipelineAsync(descriptor))
        .then(
            (pipeline) => shim.settle(pending, 0, shim.add(pipeline, device)),
            (error) => shim.settle(pending, error.reason === 'internal' ? 2 : 1, 0, error.message));
  },

  etwg_js_pipeline_bind_group_layout__deps: ['$shim'],
  etwg_js_pipeline_bind_group_layout__sig: 'iii',
  etwg_js_pipeline_bind_group_layout: (pipeline, group) => {
    const slot = shim.slots[pipeline];
    return shim.create(slot.device, () => slot.value.getBindGroupLayout(group));
  },

  // entries: doubles, four an entry: binding, buffer handle, offset, size (-1: the rest of the buffer).
  etwg_js_create_bind_group__deps: ['$shim'],
  etwg_js_create_bind_group__sig: 'iiipipi',
  etwg_js_create_bind_group: (device, layout, entries, count, label, labelLength) =>
      shim.create(device, () => {
        const list = [];
        for (let i = 0, at = entries / 8; i < count; i++, at += 4) {
          const resource = {buffer: shim.get(HEAPF64[at + 1]), offset: HEAPF64[at + 2]};
          if (HEAPF64[at + 3] >= 0) {
            resource.size = HEAPF64[at + 3];
          }
          list.push({binding: HEAPF64[at], resource});
        }
        return shim.get(device).createBindGroup({
          layout: shim.get(layout),
          entries: list,
          label: shim.label(label, labelLength),
        });
      }),

  etwg_js_create_query_set__deps: ['$shim'],
  etwg_js_create_query_set__sig: 'iiipi',
  etwg_js_create_query_set: (device, count, label, labelLength) =>
      shim.create(device, () => shim.get(device).createQuerySet({
        type: 'timestamp',
        count,
        label: shim.label(label, labelLength),
      })),

  // --- Buffers ---------------------------------------------------------------------------------------

  etwg_js_create_buffer__deps: ['$shim'],
  etwg_js_create_buffer__sig: 'iididpi',
  etwg_js_create_buffer: (device, usage, size, mapped, label, labelLength) =>
      shim.create(device, () => shim.get(device).createBuffer({
        usage,
        size,
        mappedAtCreation: mapped !== 0,
        label: shim.label(label, labelLength),
      })),

  etwg_js_map_async__deps: ['$shim'],
  etwg_js_map_async__sig: 'viiidd',
  etwg_js_map_async: (buffer, pending, mode, offset, size) => {
    const object = shim.get(buffer);
    shim.start(() => object.mapAsync(mode, offset, size)).then(
        () => shim.settle(pending, 0, 0),
        (error) => shim.settle(pending, error.name === 'AbortError' ? 2 : 1, 0, error.message));
  },

  // Copies between the mapped range [offset, offset + size) and memory; 0 when the range is not mapped.
  // JS gives each mapped range out once, so the one that covers all that is mapped is kept.
  etwg_js_copy_mapped__deps: ['$shim'],
  etwg_js_copy_mapped__sig: 'iiddddpi',
  etwg_js_copy_mapped: (buffer, mapOffset, mapSize, offset, size, memory, toBuffer) => {
    const slot = shim.slots[buffer];
    return shim.attempt(slot.device, () => {
      slot.mapped ??= new Uint8Array(slot.value.getMappedRange(mapOffset, mapSize));
      const range = slot.mapped.subarray(offset - mapOffset, offset - mapOffset + size);
      const heap = HEAPU8.subarray(memory, memory + size);
      if (toBuffer) {
        range.set(heap);
      } else {
        heap.set(range);
      }
      return 1;
    }) ?? 0;
  },

  etwg_js_unmap__deps: ['$shim'],
  etwg_js_unmap__sig: 'vi',
  etwg_js_unmap: (buffer) => {
    const slot = shim.slots[buffer];
    slot.mapped = undefined;
    slot.value.unmap();
  },

  // --- Queue -----------------------------------------------------------------------------------------

  etwg_js_write_buffer__deps: ['$shim'],
  etwg_js_write_buffer__sig: 'viidpd',
  etwg_js_write_buffer: (queue, buffer, offset, data, size) => {
    const slot = shim.slots[queue];
    shim.attempt(slot.device, () => slot.value.writeBuffer(shim.get(buffer), offset, HEAPU8, data, size));
  },

  etwg_js_submit__deps: ['$shim'],
  etwg_js_submit__sig: 'vipi',
  etwg_js_submit: (queue, commands, count) => {
    const slot = shim.slots[queue];
    const handles = Array.from(HEAP32.subarray(commands / 4, commands / 4 + count));
    shim.attempt(slot.device, () => slot.value.submit(handles.map((handle) => shim.get(handle))));
  },

  etwg_js_work_done__deps: ['$shim'],
  etwg_js_work_done__sig: 'vii',
  etwg_js_work_done: (queue, pending) => {
    shim.start(() => shim.get(queue).onSubmittedWorkDone()).then(
        () => shim.settle(pending, 0, 0), (error) => shim.settle(pending, 1, 0, error.message));
  },

  // --- Commands --------------------------------------------------------------------------------------

  etwg_js_create_encoder__deps: ['$shim'],
  etwg_js_create_encoder__sig: 'iipi',
  etwg_js_create_encoder: (device, label, labelLength) =>
      shim.create(device, () => shim.get(device).createCommandEncoder({label: shim.label(label, labelLength)})),

  // querySet 0: no timestamps; an index of -1: none at that end.
  etwg_js_begin_pass__deps: ['$shim'],
  etwg_js_begin_pass__sig: 'iiiiipi',
  etwg_js_begin_pass: (encoder, querySet, begin, end, label, labelLength) => {
    const slot = shim.slots[encoder];
    return shim.create(slot.device, () => {
      const descriptor = {label: shim.label(label, labelLength)};
      if (querySet) {
        descriptor.timestampWrites = {querySet: shim.get(querySet)};
        if (begin >= 0) {
          descriptor.timestampWrites.beginningOfPassWriteIndex = begin;
        }
        if (end >= 0) {
          descriptor.timestampWrites.endOfPassWriteIndex = end;
        }
      }
      return slot.value.beginComputePass(descriptor);
    });
  },

  etwg_js_copy_buffer__deps: ['$shim'],
  etwg_js_copy_buffer__sig: 'viididd',
  etwg_js_copy_buffer: (encoder, source, sourceOffset, destination, destinationOffset, size) => {
    const slot = shim.slots[encoder];
    shim.attempt(
        slot.device,
        () => slot.value.copyBufferToBuffer(
            shim.get(source), sourceOffset, shim.get(destination), destinationOffset, size));
  },

  // size -1: the rest of the buffer.
  etwg_js_clear_buffer__deps: ['$shim'],
  etwg_js_clear_buffer__sig: 'viidd',
  etwg_js_clear_buffer: (encoder, buffer, offset, size) => {
    const slot = shim.slots[encoder];
    shim.attempt(
        slot.device, () => slot.value.clearBuffer(shim.get(buffer), offset, size < 0 ? undefined : size));
  },

  etwg_js_resolve_queries__deps: ['$shim'],
  etwg_js_resolve_queries__sig: 'viiiiid',
  etwg_js_resolve_queries: (encoder, querySet, first, count, destination, offset) => {
    const slot = shim.slots[encoder];
    shim.attempt(
        slot.device,
        () => slot.value.resolveQuerySet(shim.get(querySet), first, count, shim.get(destination), offset));
  },

  etwg_js_finish__deps: ['$shim'],
  etwg_js_finish__sig: 'iipi',
  etwg_js_finish: (encoder, label, labelLength) => {
    const slot = shim.slots[encoder];
    return shim.create(slot.device, () => slot.value.finish({label: shim.label(label, labelLength)}));
  },

  etwg_js_set_pipeline__deps: ['$shim'],
  etwg_js_set_pipeline__sig: 'vii',
  etwg_js_set_pipeline: (pass, pipeline) => {
    const slot = shim.slots[pass];
    shim.attempt(slot.device, () => slot.value.setPipeline(shim.get(pipeline)));
  },

  etwg_js_set_bind_group__deps: ['$shim'],
  etwg_js_set_bind_group__sig: 'viiipi',
  etwg_js_set_bind_group: (pass, index, group, offsets, count) => {
    const slot = shim.slots[pass];
    shim.attempt(slot.device, () => {
      if (count) {
        slot.value.setBindGroup(index, shim.get(group), HEAPU32.slice(offsets / 4, offsets / 4 + count), 0, count);
      } else {
        slot.value.setBindGroup(index, group ? shim.get(group) : null);
      }
    });
  },

  etwg_js_dispatch__deps: ['$shim'],
  etwg_js_dispatch__sig: 'viiii',
  etwg_js_dispatch: (pass, x, y, z) => {
    const slot = shim.slots[pass];
    shim.attempt(slot.device, () => slot.value.dispatchWorkgroups(x >>> 0, y >>> 0, z >>> 0));
  },

  etwg_js_dispatch_indirect__deps: ['$shim'],
  etwg_js_dispatch_indirect__sig: 'viid',
  etwg_js_dispatch_indirect: (pass, buffer, offset) => {
    const slot = shim.slots[pass];
    shim.attempt(slot.device, () => slot.value.dispatchWorkgroupsIndirect(shim.get(buffer), offset));
  },

  etwg_js_end_pass__deps: ['$shim'],
  etwg_js_end_pass__sig: 'vi',
  etwg_js_end_pass: (pass) => {
    const slot = shim.slots[pass];
    shim.attempt(slot.device, () => slot.value.end());
  },

  // push: text to push, null to pop a debug group.
  etwg_js_debug_group__deps: ['$shim'],
  etwg_js_debug_group__sig: 'vipi',
  etwg_js_debug_group: (encoder, push, length) => {
    const object = shim.get(encoder);
    if (push) {
      object.pushDebugGroup(shim.label(push, length));
    } else {
      object.popDebugGroup();
    }
  },
});
