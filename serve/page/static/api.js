// Questions to tilecheck. The same questions go to a server, or to the same program in a worker.

const transport = document.querySelector('meta[name="tilecheck-transport"]').content;
export const inServer = transport === 'server';

export class Failure extends Error {
  constructor(failure) {
    super(failure.message);
    this.places = failure.places || [];
    this.class = failure.class;
    this.constants = failure.constants || []; // those without a value
    this.kind = failure.kind; // "changed": the file on disk is another one than was opened
    this.expected = true; // it is about the question, not a fault of the page
  }
}

// ask returns the answer to a question. part(name, value) gets what comes before it, "waiting" among it if other questions are answered first; a signal that is aborted ends the work.
export function ask(name, question = {}, { part, signal } = {}) {
  const body = JSON.stringify(question);
  return inServer ? askServer(name, body, part, signal) : askWorker(name, body, part, signal);
}

// take reads a line of an answer into a result.
function take(line, result, part) {
  const object = JSON.parse(line);
  for (const [key, value] of Object.entries(object)) {
    if (key === 'answer') result.answer = value;
    else if (key === 'error') result.error = new Failure(value);
    else if (part) part(key, value);
  }
}

function ended(result) {
  if (result.error) throw result.error;
  if (!('answer' in result)) throw new Failure({ message: 'the answer ends in the middle' });
  return result.answer;
}

function token() {
  const given = /^#token=([A-Za-z0-9_-]+)/.exec(location.hash);
  if (given) {
    sessionStorage.setItem('token', given[1]);
    history.replaceState(null, '', location.pathname);
  }
  return sessionStorage.getItem('token');
}
const secret = inServer ? token() : null;

async function askServer(name, body, part, signal) {
  const headers = { 'Content-Type': 'application/json' };
  if (secret) headers.Authorization = 'Bearer ' + secret;
  let response;
  try {
    response = await fetch('api/' + name, { method: 'POST', headers, body, signal });
  } catch (e) {
    if (signal?.aborted) throw e;
    throw new Failure({ message: 'tilecheck does not answer: is "tilecheck serve" still running?' });
  }
  if (!(response.headers.get('Content-Type') || '').includes('ndjson')) throw new Failure({ message: (await response.text()).trim() || response.statusText });
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  const result = {};
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split('\n');
    rest = lines.pop();
    for (const line of lines) take(line, result, part);
  }
  return ended(result);
}

// In the playground a worker does one thing at a time. What is quick has one, the views of states have one, what searches all states has one, and each job that may take long has its own,
// so that none keeps the others waiting.
const lanesOf = { graph: 'states', path: 'states', follow: 'states', find: 'search', predecessors: 'search', components: 'search', export: 'search', check: 'check', experiment: 'experiment', strategies: 'strategies', hints: 'hints', watch: 'watch' };

let compiled;
function program() {
  compiled ??= (async () => {
    const response = await fetch('playground.bin');
    if (!response.ok) throw new Failure({ message: 'playground.bin is not there' });
    const body = response.body.pipeThrough(new DecompressionStream('gzip'));
    return WebAssembly.compileStreaming(new Response(body, { headers: { 'Content-Type': 'application/wasm' } }));
  })();
  return compiled;
}

class Lane {
  constructor() { this.open = new Map(); this.last = 0; }

  start() {
    this.worker = new Worker('worker.js');
    this.worker.onmessage = ({ data }) => this.heard(data);
    this.worker.onerror = (e) => { e.preventDefault(); this.restart('the program ended: it may have been out of memory'); };
    program().then((module) => this.worker.postMessage({ module }), (e) => this.restart(e.message));
  }

  heard({ id, line }) {
    const q = this.open.get(id);
    if (!q) return;
    if (line !== null) { take(line, q.result, q.part); return; }
    this.open.delete(id);
    [...this.open.values()][0]?.part?.('waiting', false); // the next one begins
    try { q.resolve(ended(q.result)); } catch (e) { q.reject(e); }
  }

  // restart ends the worker, whatever it does, and asks again what others still want to know.
  restart(message) {
    this.worker.terminate();
    this.worker = null;
    const others = [...this.open.values()];
    this.open.clear();
    for (const q of others) message ? q.reject(new Failure({ message })) : this.send(q);
  }

  send(q) {
    if (!this.worker) this.start();
    q.id = ++this.last;
    q.result = {};
    if (this.open.size) q.part?.('waiting', true);
    this.open.set(q.id, q);
    this.worker.postMessage({ id: q.id, name: q.name, body: q.body });
  }

  ask(name, body, part, signal) {
    return new Promise((resolve, reject) => {
      if (signal?.aborted) { reject(signal.reason); return; }
      const q = { name, body, part, resolve, reject };
      this.send(q);
      signal?.addEventListener('abort', () => {
        if (this.open.get(q.id) !== q) return;
        this.worker.postMessage({ cancel: q.id });
        const id = q.id;
        // A computation that does not look up is ended with its worker.
        setTimeout(() => { if (this.open.get(id) === q) { this.open.delete(id); this.restart(); } }, 250);
        reject(signal.reason);
      });
    });
  }
}

const lanes = new Map();
function lane(name) {
  if (!lanes.has(name)) lanes.set(name, new Lane());
  return lanes.get(name);
}

// warm starts the worker of checks before it is needed.
export function warm() { if (!inServer && !lane('check').worker) lane('check').start(); }

const askWorker = (name, body, part, signal) => lane(lanesOf[name] || 'quick').ask(name, body, part, signal);
