import { el, clear, input } from './dom.js';
import { ask, inServer, warm } from './api.js';
import { doc } from './document.js';
import { status, tell, attempt } from './status.js';
import { choose } from './dialog.js';
import { fragment, read, open } from './link.js';
import { startTour, offerTour } from './tour.js';
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
tabs.addEventListener('keydown', async (e) => {
  const step = { ArrowRight: 1, ArrowLeft: -1 }[e.key];
  if (!step) return;
  e.preventDefault();
  const at = views.findIndex(([name]) => name === current);
  const shown = show(views[(at + step + views.length) % views.length][0]);
  const focus = () => document.getElementById('tab-' + current).focus();
  focus();
  await shown;
  focus(); // Play has taken it for its board
});

let current;
addEventListener('resize', () => document.getElementById('tab-' + current)?.scrollIntoView({ block: 'nearest', inline: 'nearest' }));

async function show(name, moved = true) {
  if (!views.some(([n]) => n === name)) name = 'model';
  if (current === name) return;
  made.get(current)?.hide?.();
  const first = !current;
  current = name;
  if (!first) status.say(''); // what it says is of the view before
  if (moved) address(!first);
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

// address writes what is shown into the address; a step that Back undoes, or in the place of the one before.
async function address(step) {
  const shown = current;
  const text = await fragment(shown);
  if (shown === current && text !== location.hash) history[step ? 'pushState' : 'replaceState'](null, '', text);
}

// Back, Forward and links within the page.
addEventListener('popstate', attempt(async () => {
  const asked = read(location.hash);
  const other = (asked.file && asked.file !== doc.saved.model) || (asked.example && asked.example !== doc.file) || asked.text;
  const changed = other && (await fragment(current)).replace(/view=\w+/, '') !== location.hash.replace(/view=\w+/, '');
  if (changed && doc.unsaved && await choose(`${doc.name} has changes that are not saved.`, ['Discard the changes', 'Cancel']) !== 'Discard the changes') { address(false); return; }
  await open(asked);
  await show(asked.view, false);
}));

// make returns a view, which is made when it is first wanted.
async function make(name) {
  const { create } = await import(`./view-${name}.js`);
  if (!made.has(name)) made.set(name, create({ show, make, tour: () => startTour(show) }));
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
let writing;
doc.addEventListener('change', () => { clearTimeout(writing); writing = setTimeout(() => { if (current) address(false); }, 300); });
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

const shortcuts = [
  ['?', 'These shortcuts'], ['Ctrl S', 'Save the model and its properties'], ['← →', 'Other views, on their tabs'],
  ['Ctrl Enter', 'Model: check all properties'], ['Ctrl Space', 'Editor: what can stand here; Tab or Enter takes it'], ['Ctrl I', 'Editor: what this is'], ['Shift Alt F', 'Editor: format'], ['Esc', 'Editor: close what is shown'],
  ['← → ↑ ↓', 'Graph: move it; plot: the points of a series, other series; game: moves'], ['+ − 0', 'Graph and plot: larger, smaller, all of it'], ['Enter', 'Graph: select and expand the state'],
  ['C P D', 'Graph: collapse the state, its predecessors, compare it with the selected one'], ['F', 'Graph: full screen; Esc leaves it'],
];

function help() {
  if (document.querySelector('dialog[open]')) return;
  choose('Keyboard shortcuts', ['Close'], el('table', { 'aria-label': 'Keyboard shortcuts' }, shortcuts.map(([keys, what]) => el('tr', {}, el('th', { scope: 'row', class: 'mono' }, keys), el('td', {}, what)))));
}
document.getElementById('help').addEventListener('click', help);

// share shows a link to what is open.
async function share() {
  const address = location.href.split('#')[0] + await fragment(current, true);
  const link = input(address, { class: 'mono wide', readonly: true, 'aria-label': 'Link', onfocus: () => link.select() });
  const about = /[#&](text|example)=/.test(address) ? 'This link has the model, the properties and the constants in it. Whoever opens it sees them as they are now.' : 'The model is too long for a link. Send the file instead.';
  if (await choose(about, ['Copy', 'Close'], link) !== 'Copy') return;
  await navigator.clipboard.writeText(address);
  status.say('The link is copied.');
}
document.getElementById('link').addEventListener('click', attempt(share));

addEventListener('keydown', (e) => { if (e.key === '?' && !e.ctrlKey && !e.target.closest?.('input, textarea, select')) { e.preventDefault(); help(); } });

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
  const asked = read(location.hash);
  const newcomer = !location.hash && !sessionStorage.getItem('document'); // who follows a link, or comes back, is none
  try {
    await doc.begin();
    const info = await ask('info');
    doc.info = info;
    // A page that is loaded again has what the tab had, which may be newer than the address.
    if (performance.getEntriesByType('navigation')[0]?.type !== 'reload' || !sessionStorage.getItem('document')) await open(asked);
    document.getElementById('about').textContent = `tilecheck ${info.version.split('+')[0]}, ${inServer ? 'on this machine' : 'in this browser'}`;
  } catch (e) {
    status.error(e);
  }
  await show(asked.view);
  if (newcomer) offerTour(async () => { await show('model'); await (await make('model')).tour(); });
  document.body.dataset.ready = 'true';
  warm();
  // The files stay for a visit without a network, where a browser lets them: not over plain HTTP from another machine.
  if (!inServer) navigator.serviceWorker?.register('sw.js').catch(() => {});
}
start();
