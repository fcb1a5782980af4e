// The part of the address behind # names the view, the model and the values of constants. A text that is in no file is in it as a whole, compressed.
import { doc, inServer } from './document.js';

const longest = 60000; // characters of an address

async function through(stream, bytes) {
  const out = new Response(new Blob([bytes]).stream().pipeThrough(stream));
  return new Uint8Array(await out.arrayBuffer());
}

const encode = (bytes) => btoa(Array.from(bytes, (b) => String.fromCharCode(b)).join('')).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
const decode = (text) => Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (c) => c.charCodeAt(0));

// exampleOf returns the example that is open as it comes with the page.
const exampleOf = () => doc.examples.find((x) => x.name === doc.file && x.model === doc.model && x.props === doc.props);

// fragment returns the fragment for a view of what is open. With whole the texts are in it even if they are in a file of the server.
export async function fragment(view, whole = false) {
  const parts = new URLSearchParams({ view });
  const example = exampleOf();
  if (!whole && inServer && doc.saved.model) parts.set('file', doc.saved.model);
  else if (example) parts.set('example', example.name);
  else {
    const text = new TextEncoder().encode(JSON.stringify({ file: doc.file, model: doc.model, props: doc.props }));
    const packed = encode(await through(new CompressionStream('deflate-raw'), text));
    if (packed.length <= longest) parts.set('text', packed);
  }
  if (doc.const) parts.set('const', doc.const);
  return '#' + parts;
}

// read takes a fragment apart. #explore is short for #view=explore.
export function read(hash) {
  const text = hash.replace(/^#/, '');
  if (!text.includes('=')) return { view: text };
  return Object.fromEntries(new URLSearchParams(text));
}

// open opens what a fragment names, unless it is open.
export async function open({ file, example, text, const: constants = '' }) {
  const packed = text && JSON.parse(new TextDecoder().decode(await through(new DecompressionStream('deflate-raw'), decode(text))));
  const named = example && doc.examples.find((x) => x.name === example);
  const same = (t) => doc.file === (t.file || t.name) && doc.model === t.model && doc.props === t.props;
  if (file && doc.saved.model !== file) await doc.openFile(file);
  else if (named && !same(named)) doc.open(named);
  else if (packed && !same(packed)) doc.set({ file: packed.file, model: packed.model, props: packed.props });
  else if (!file && !named && !packed) return;
  if (doc.const !== constants) { doc.const = constants; doc.changed(); }
}
