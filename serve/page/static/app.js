import { el, clear } from './dom.js';
import { ask, inServer, warm } from './api.js';
import { doc } from './document.js';
import { status, tell } from './status.js';
import './constants.js';

const views = [
  ['model', 'Model'], ['explore', 'Explore'], ['simulate', 'Simulate'], ['experiments', 'Experiments'], ['strategies', 'Strategies'], ['play', 'Play'],
];

const made = new Map();
const main = document.getElementById('main');
const tabs = document.getElementById('tabs');

for (const [name, title] of views) {
  tabs.append(el('button', { type: 'button', role: 'tab', id: 'tab-' + name, 'aria-controls': 'main', onclick: () => show(name) }, title));
}
tabs.addEventListener('keydown', (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  const at = views.findIndex(([name]) => name === current);
  show(views[(at + step + views.length) % views.length][0]);
  document.getElementById('tab-' + current).focus();
  e.preventDefault();
});

let current;
async function show(name) {
  if (!views.some(([n]) => n === name)) name = 'model';
  if (current === name) return;
  made.get(current)?.hide?.();
  current = name;
  history.replaceState(null, '', '#' + name);
  for (const [n] of views) {
    const tab = document.getElementById('tab-' + n);
    tab.setAttribute('aria-selected', n === name);
    tab.tabIndex = n === name ? 0 : -1;
    if (n === name) tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  }
  main.setAttribute('aria-labelledby', 'tab-' + name);
  main.setAttribute('role', 'tabpanel');
  const view = await make(name);
  if (current !== name) return;
  clear(main, view.element);
  main.dataset.view = name;
  view.show?.();
}

// make returns a view, which is made when it is first wanted.
async function make(name) {
  const { create } = await import(`./view-${name}.js`);
  if (!made.has(name)) made.set(name, create({ show, make }));
  return made.get(name);
}

const themes = ['auto', 'light', 'dark'];
const themeButton = document.getElementById('theme');
function theme(name) {
  if (name === 'auto') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  themeButton.textContent = { auto: '◐ Auto', light: '○ Light', dark: '● Dark' }[name];
  themeButton.setAttribute('aria-label', 'Theme: ' + name);
  localStorage.setItem('theme', name);
}
let themed = themes.includes(localStorage.getItem('theme')) ? localStorage.getItem('theme') : 'auto';
theme(themed);
themeButton.addEventListener('click', () => theme(themed = themes[(themes.indexOf(themed) + 1) % 3]));

doc.addEventListener('change', () => {
  const name = (doc.unsaved ? '● ' : '') + doc.file;
  const file = document.getElementById('file');
  file.textContent = name;
  file.title = doc.unsaved ? `${doc.name}: there are changes that are not saved` : doc.name;
  document.title = name + ' – tilecheck';
});
doc.addEventListener('draft', ({ detail: draft }) => {
  const when = new Date(draft.when).toLocaleString();
  tell(`There are changes of ${draft.saved.model || draft.file} from ${when} that were not saved.`, [['Restore', () => doc.restore(draft)], ['Discard', () => doc.discard(draft)]], false);
});
doc.addEventListener('go', async ({ detail: place }) => {
  await show('model');
  (await make('model')).go(place);
});
addEventListener('beforeunload', (e) => { if (doc.unsaved) e.preventDefault(); });
addEventListener('keydown', (e) => {
  if (e.key !== 's' || !(e.ctrlKey || e.metaKey) || e.altKey || e.shiftKey) return;
  e.preventDefault();
  make('model').then((view) => view.save());
});

// renewed loads the page again where a newer version of it has come since the last visit, unless another page has the old one.
async function renewed() {
  const waiting = (await navigator.serviceWorker?.getRegistration())?.waiting;
  if (!waiting) return false;
  const begins = await new Promise((resolve) => {
    navigator.serviceWorker.addEventListener('controllerchange', () => resolve(true), { once: true });
    navigator.serviceWorker.addEventListener('message', () => resolve(false), { once: true });
    navigator.serviceWorker.startMessages();
    setTimeout(resolve, 1000, false);
    waiting.postMessage('begin');
  });
  if (begins) location.reload();
  return begins;
}

async function start() {
  if (!inServer && await renewed().catch(() => false)) return;
  const asked = location.hash.slice(1);
  try {
    await doc.begin();
    const info = await ask('info');
    doc.info = info;
    document.getElementById('about').textContent = `tilecheck ${info.version.split('+')[0]}, ${inServer ? 'on this machine' : 'in this browser'}`;
  } catch (e) {
    status.error(e);
  }
  await show(views.some(([n]) => n === asked) ? asked : 'model');
  document.body.dataset.ready = 'true';
  warm();
  // The files stay for a visit without a network, where a browser lets them: not over plain HTTP from another machine.
  if (!inServer) navigator.serviceWorker?.register('sw.js').catch(() => {});
}
start();
