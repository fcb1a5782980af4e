// The playground's program: package serve of tilecheck in WebAssembly.
importScripts('wasm_exec.js');

const waiting = [];
let ready = false;

self.tilecheckReady = () => {
  ready = true;
  for (const q of waiting.splice(0)) run(q);
};

function run({ id, name, body, cancel }) {
  if (cancel) self.tilecheckCancel(cancel);
  else self.tilecheckRequest(id, name, body, (line) => self.postMessage({ id, line }));
}

self.onmessage = async ({ data }) => {
  if (data.module) {
    const go = new Go();
    const instance = await WebAssembly.instantiate(data.module, go.importObject);
    go.run(instance).then(() => { throw new Error('the program ended'); });
    return;
  }
  if (ready) run(data);
  else waiting.push(data);
};
