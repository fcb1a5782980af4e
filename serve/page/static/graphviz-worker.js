// Graphviz, the one that is a part of tilecheck, as WebAssembly. It reads nothing and writes nothing.
let gv;

const wasi = (memory) => {
  const ok = () => 0;
  return {
    fd_write(fd, iovs, n, written) {
      const view = new DataView(memory().buffer);
      let sum = 0;
      for (let i = 0; i < n; i++) sum += view.getUint32(iovs + 8 * i + 4, true);
      view.setUint32(written, sum, true);
      return 0;
    },
    environ_sizes_get(a, b) { const v = new DataView(memory().buffer); v.setUint32(a, 0, true); v.setUint32(b, 0, true); return 0; },
    args_sizes_get(a, b) { const v = new DataView(memory().buffer); v.setUint32(a, 0, true); v.setUint32(b, 0, true); return 0; },
    clock_time_get(id, precision, out) { new DataView(memory().buffer).setBigUint64(out, 0n, true); return 0; },
    random_get(at, n) { new Uint8Array(memory().buffer, at, n).fill(4); return 0; },
    environ_get: ok, args_get: ok,
    fd_close: ok,
    proc_exit(code) { throw new Error('Graphviz ended with ' + code); },
  };
};

async function start(module) {
  let memory;
  const imports = {};
  const known = wasi(() => memory);
  for (const { module: from, name, kind } of WebAssembly.Module.imports(module)) {
    if (kind !== 'function') continue;
    imports[from] ??= {};
    // What is not there is a file that does not exist, or a plugin that nobody wrote.
    imports[from][name] = from === 'wasi_snapshot_preview1' ? known[name] || (() => 8) : () => { throw new Error('call of ' + name); };
  }
  const { exports: x } = await WebAssembly.instantiate(module, imports);
  memory = x.memory;
  x._initialize?.();
  gv = { x, view: () => new DataView(memory.buffer), bytes: () => new Uint8Array(memory.buffer) };
}

function put(data) {
  const at = gv.x.malloc(data.length);
  gv.bytes().set(data, at);
  return at;
}
const text = (s) => put(new TextEncoder().encode(s + '\0'));
const word = (at) => gv.view().getUint32(at, true);

function plugins() {
  const out = put(new Uint8Array(8));
  gv.x.wasm_bridge_SymList_default(out);
  const list = word(out);
  const n = word(list);
  const array = new Uint8Array(8 * n + 8);
  for (let i = 0; i < n; i++) {
    const pair = word(word(list + 4) + 8 * i);
    array.set(gv.bytes().slice(pair, pair + 8), 8 * i);
  }
  return put(array);
}

function layout(dot) {
  const context = gv.x.gvContextPlugins(plugins(), 0);
  const graph = gv.x.agmemread(text(dot));
  if (!graph) throw new Error('the graph cannot be read');
  if (gv.x.gvLayout(context, graph, text('dot'))) throw new Error('the graph has no layout');
  const out = put(new Uint8Array(8));
  if (gv.x.gvRenderData(context, graph, text('plain'), out, out + 4)) throw new Error('the layout cannot be written');
  const at = word(out);
  return new TextDecoder().decode(gv.bytes().slice(at, at + word(out + 4)));
}

onmessage = async ({ data: { module, dot } }) => {
  try {
    await start(module); // anew for each picture: everything that it allocates goes with it
    postMessage({ plain: layout(dot) });
  } catch (e) {
    postMessage({ error: String(e.message || e) });
  }
};
