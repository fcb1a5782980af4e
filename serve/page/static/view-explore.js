// The states of a model and what leads from one to another, expanded and collapsed by hand.
import { el, clear, button, field, choice, menu, input, number, toNumber, download } from './dom.js';
import { doc, stem } from './document.js';
import { status, attempt } from './status.js';
import { Current } from './current.js';
import { Canvas, legendOf } from './graph.js';
import { StateGraph, key, stateText, playerIcon, componentColour } from './state-graph.js';
import { details, shownPredecessors } from './state-details.js';
import { splitter } from './splitter.js';
import { verdictText } from './property-table.js';
import { Failure } from './api.js';
import { choose as decide } from './dialog.js';
import { keep, isKept, takeKept } from './kept.js';

const maxStates = 300; // of a picture
const maxListed = 12; // found states, each with a button
const maxLegend = 8; // components in the legend, the largest ones
const maxShown = 20; // predecessors that are put into the picture at once
const count = (n) => n.toLocaleString('en');
const plural = (n, word) => `${count(n)} ${word}${n === 1 ? '' : 's'}`;

const kinds = { scc: 'SCC', bscc: 'BSCC', mec: 'MEC' };
const fileFormats = [['tra', 'Transitions (.tra)'], ['sta', 'States (.sta)'], ['lab', 'Labels (.lab)'], ['pexp', 'All of it for PRISM (.pexp)'], ['drn', 'All of it for Storm (.drn)'], ['dot', 'Graphviz (.dot)']];
const schedulerFormats = [['scheduler.txt', 'Optimal scheduler, actions (.txt)'], ['scheduler.json', 'Optimal scheduler for Storm (.json)'], ['scheduler.tra', 'Induced model (.tra)'], ['scheduler.dot', 'Induced model (.dot)']];
const distributionFormats = [['steady', 'Steady-state probabilities (.txt)'], ['transient', 'Transient probabilities… (.txt)']];
const smallestTexts = [['6', '6 px'], ['9', '9 px'], ['11', '11 px'], ['14', '14 px']];

export function create({ show: showView, make }) {
  const percent = el('span', { class: 'mono soft percent', 'aria-label': 'Scale' });
  const canvas = new Canvas('State graph: arrow keys move it, plus and minus zoom, 0 shows all of it, F fills the screen', (k) => { percent.textContent = `${Math.round(100 * k)} %`; picture?.fitTexts(); });
  const act = {
    select: attempt((n) => select(n)), compare: attempt((n) => compare(n)), collapse: attempt((n) => collapse(n)), predecessors: attempt((n) => predecessors(n, false)),
    show: attempt((state) => add([state])), simulate: attempt(async (n) => { await leaveFullScreen(); await showView('simulate'); await (await make('simulate')).startFrom(n.state); }),
  };
  const picture = new StateGraph(canvas, act);

  // open are the states whose successors are shown. roots are the states that stay when a state from which they are reached is collapsed.
  let open = []; let roots = [];
  let chosen = null; let compared = null; // states of the graph
  let path = new Set(); let steps = new Set(); let graph = null; let total = null;
  let search = null; // {expr, all, found: keys}
  let components = null; // {name, of: numbers by key, answer}
  let incoming = null; // the predecessors of the state with a key: {key, answer}

  let property = choice([['', 'no property']], '', () => refresh());
  const propertyField = field('Values of', property, 'grow');
  const coloured = choice([['', 'nothing'], ...Object.entries(kinds).map(([k, name]) => [k, `${name}s`])], '', () => colour(false), { name: 'colour' });
  const depth = el('input', { type: 'number', min: 1, max: maxStates, step: 1, 'aria-label': 'Depth' }); depth.value = 3;
  const expr = input('', { class: 'mono wide', placeholder: 's=7 & d=6, or "label"' });
  const found = el('div', { class: 'found row', role: 'status' });
  const why = el('div');
  const players = el('div');
  const componentLegend = el('div', { role: 'status' });
  const legend = el('div');
  const panel = el('section', { class: 'panel details', 'aria-label': 'State' });
  const smallest = choice(smallestTexts, localStorage.getItem('smallest text') || '9', (v) => setSmallest(v), { 'aria-label': 'Smallest text' });
  const fullScreen = button('Full screen', attempt(() => toggleFullScreen()), { class: 'small', 'aria-pressed': 'false' });

  const savedStates = menu('Save…', [...fileFormats, ...schedulerFormats, ...distributionFormats], attempt((format) => save(format)));

  const element = el('div', { class: 'explore' },
    el('div', { class: 'row' }, propertyField, field('Colour', coloured),
      el('div', { class: 'field' }, el('span', {}, 'Depth'), el('div', { class: 'joined' }, depth, button('Expand to depth', attempt(() => expandTo())))),
      button('Expand all', attempt(() => expandAll())), button('Start again', () => again()),
      button('Path to the goal', attempt(() => likeliest(false))), button('Path to failure', attempt(() => likeliest(true)))),
    el('form', { class: 'row', onsubmit: (e) => { e.preventDefault(); find(false); } }, field('States with', expr, 'grow'), el('button', { type: 'submit' }, 'Find')));
  const bar = el('div', { class: 'row bar', role: 'group', 'aria-label': 'Picture' },
    button('−', () => canvas.zoom(0.8), { class: 'small', 'aria-label': 'Zoom out' }), percent, button('+', () => canvas.zoom(1.25), { class: 'small', 'aria-label': 'Zoom in' }),
    button('Fit', () => canvas.fit(), { class: 'small' }), fullScreen, button('SVG', () => download('graph.svg', picture.text(), 'image/svg+xml'), { class: 'small' }), el('label', {}, 'Smallest text ', smallest), savedStates);
  const parts = el('div', { class: 'parts' });
  parts.append(el('div', { class: 'picture' }, bar, canvas.element), splitter(parts, 'explore', 'Size of the graph'), panel);
  const current = new Current(el('div', { class: 'content' }, why, found, players, componentLegend, parts, legend), () => again(), true);
  current.element.classList.add('current');
  element.append(current.element);
  setSmallest(smallest.value);

  const say = (text) => { if (element.isConnected) status.say(text); }; // of the view that is shown only
  const again = () => { reset(); return refresh(); };
  keep('states', () => (graph && !current.outdated ? { open, roots, chosen: chosen.state } : null));
  // resume shows the states that were there before the page was loaded again, or the first ones.
  const resume = attempt(async () => {
    if (!isKept('states')) { await again(); return; }
    await doc.diagnosed();
    const before = takeKept('states');
    reset();
    if (before) ({ open, roots } = before);
    if (before) chosen = { state: before.chosen };
    await refresh();
  });
  const asked = () => (property.value === '' ? {} : { property: Number(property.value) });
  const states = () => graph.nodes.map((n) => n.state);
  const without = (list, state) => list.filter((s) => key(s) !== key(state));
  const unite = (a, b) => [...new Map([...a, ...b].map((s) => [key(s), s])).values()];

  function reset() {
    open = []; roots = []; chosen = null; compared = null; path = new Set(); steps = new Set(); graph = null; total = null; incoming = null; components = null;
    canvas.start();
    clear(why);
    forgetSearch();
  }

  const marks = () => ({ chosen: chosen && key(chosen.state), compared: compared && key(compared.state), path, steps, found: search?.found || new Set(), components });

  // refresh draws the states that are open and those around them. more is asked for in addition.
  const refresh = attempt(async (more = {}) => {
    const first = !graph;
    const [of, answer] = await current.answer('Explore', 'explore', 'graph', { open, shown: roots.filter((s) => !open.some((o) => key(o) === key(s))), ...asked(), ...more });
    graph = answer;
    if (graph.states) total = graph.states;
    open = graph.nodes.filter((n) => n.open).map((n) => n.state);
    if (first && !roots.length) roots = [...open];
    const again = (n) => n && graph.nodes.find((m) => key(m.state) === key(n.state));
    chosen = again(chosen) || graph.nodes[0];
    compared = again(compared) || compared;
    offerKinds();
    say(`Drawing ${plural(graph.nodes.length, 'state')}…`);
    await picture.set(answer, marks());
    if (graph !== answer) return; // something else was asked for meanwhile
    current.done(of);
    showLegend();
    describe();
    say(`${plural(graph.nodes.length, 'state')} shown${total ? ` of ${count(total)}` : ''}${graph.more ? `: a picture has ${maxStates} at most` : ''}.`);
    if (search) mark();
    if (coloured.value) colour(components?.answer.whole || false);
  });

  // redraw draws the same states with other marks.
  function redraw() {
    if (graph) picture.draw(marks());
    describe();
  }

  // choose makes a state of the picture the selected one.
  function choose(n) {
    chosen = n;
    picture.choose(marks());
    describe();
  }

  async function select(n) {
    if (n.open) { choose(n); return; }
    chosen = n;
    open = [...open, n.state];
    await refresh();
  }

  // add shows states with their successors, beside what is shown, and selects the first one.
  async function add(list) {
    if (!graph) { open = list; roots = [...list]; chosen = { state: list[0] }; await refresh(); return; }
    const known = new Set(states().map(key));
    roots = unite(roots, list.filter((s) => !known.has(key(s))));
    chosen = { state: list[0] };
    open = unite(open, list);
    await refresh();
  }

  // collapse hides the successors of a state, unless they are reached from a root in another way.
  async function collapse(n) {
    if (!graph || !n.open) return;
    chosen = n;
    const left = graph.choices.filter((c) => graph.nodes[c.from] !== n);
    const reached = new Set(roots.map(key));
    for (const k of reached) for (const c of left) if (key(graph.nodes[c.from].state) === k) for (const t of c.to) if (t.to >= 0) reached.add(key(graph.nodes[t.to].state));
    reached.add(key(n.state));
    if (!left.some((c) => c.to.some((t) => graph.nodes[t.to] === n))) roots = unite(roots, [n.state]);
    open = without(open, n.state).filter((s) => reached.has(key(s)));
    await refresh();
  }

  async function expandAll() { if (graph) await show(states().slice(0, maxStates)); }
  async function show(list) { open = unite(open, list).slice(0, maxStates); await refresh(); }

  // expandTo shows what is reached from the selected state in some steps.
  async function expandTo() {
    const wanted = Math.max(1, Math.min(maxStates, Math.round(Number(depth.value)) || 1));
    if (!graph) return;
    await refresh({ depth: wanted, from: chosen.state });
    const reached = graph.depth || 0;
    say(`${plural(graph.nodes.length, 'state')} shown. ${reached < wanted ? `The picture is full: a picture has ${maxStates} states at most. From ${chosen.text} it has all states of depth ${reached}` : `All states of depth ${wanted} from ${chosen.text}`}.`);
  }

  // compare marks a state to be compared with the one that is selected; null ends that.
  function compare(n) {
    if (!graph) return;
    if (n && chosen && key(n.state) !== key(chosen.state)) { compared = chosen; chosen = n; } else compared = n;
    redraw();
  }

  // save saves all states of the model, an optimal scheduler of the property, or the probabilities of the states.
  async function save(format) {
    const question = { format };
    if (schedulerFormats.some(([f]) => f === format)) {
      if (property.value === '') throw new Failure({ message: 'Select the property whose optimal scheduler is to be saved, in “Values of”.' });
      question.property = Number(property.value);
    }
    if (format === 'transient') {
      const time = input('1', { class: 'mono', 'aria-label': 'Time' });
      if (await decide('Probabilities of the states at which time, or after how many steps?', ['Save', 'Cancel'], field('Time', time)) !== 'Save') return;
      question.time = time.value;
    }
    const [, { text }] = await current.answer('Save', 'export', 'export', question);
    download(`${stem(doc.file)}.${distributionFormats.some(([f]) => f === format) ? `${format}.txt` : format}`, text);
  }

  // predecessors asks for the predecessors of a state among all states; in a large model only if all is set.
  async function predecessors(n, all) {
    choose(n);
    const [, answer] = await current.answer('Predecessors', 'predecessors', 'predecessors', { state: n.state, all });
    if (answer.whole) total = answer.of;
    incoming = { key: key(n.state), answer };
    describe();
    say(answer.whole ? `${plural(answer.count, 'predecessor')} among all ${count(answer.of)} states.` : 'The model is large: only the predecessors in the picture are listed.');
  }

  // incomingOf says what is known of the predecessors of a state.
  function incomingOf(n) {
    const answer = incoming?.key === key(n.state) ? incoming.answer : null;
    if (!answer?.whole) {
      const list = shownPredecessors(graph, n);
      const n0 = new Set(list.map((t) => key(t.state))).size;
      return { list, text: `${n0} in the picture; the other states were not searched.`, more: answer ? button('Search all states', attempt(() => predecessors(n, true)), { class: 'small' }) : null };
    }
    const from = unite([], answer.from.map((t) => t.state));
    const known = new Set(states().map(key));
    const missing = from.filter((s) => !open.some((o) => key(o) === key(s))).slice(0, maxShown);
    return {
      list: answer.from, text: `${count(answer.count)} among all ${count(answer.of)} states${answer.count > from.length ? `, the first ${from.length} of them here` : ''}.`,
      more: missing.length ? button('Show them in the picture', attempt(async () => { roots = unite(roots, missing.filter((s) => !known.has(key(s)))); await show(missing); }), { class: 'small' }) : null,
    };
  }

  function forgetSearch() {
    search = null;
    clear(found);
    if (graph) redraw();
  }

  // find marks the states with the expression in the picture and counts them among all states; in a large model only if all is set.
  const find = attempt(async (all) => {
    if (!expr.value.trim()) { forgetSearch(); return; }
    search = { expr: expr.value, all, found: new Set() }; // found has keys
    const answer = await mark();
    if (answer && !answer.matches.length && answer.states.length) await add([answer.states[0]]);
  });

  // mark asks for the states that are searched among those that are shown now, and marks them.
  const mark = attempt(async () => {
    if (!graph) return null; // the search goes on when the graph is there
    const asked = search;
    const list = states();
    const [, answer] = await current.answer('Find', 'find', 'find', { expr: asked.expr, all: asked.all, shown: list }, true);
    if (search !== asked) return null;
    asked.found = new Set(answer.matches.map((i) => key(list[i])));
    if (answer.whole) total = answer.of;
    const here = `${answer.matches.length} of the ${plural(list.length, 'state')} in the picture`;
    const matches = answer.whole ? answer.states : answer.matches.map((i) => list[i]);
    clear(found, el('span', {}, answer.whole ? `${count(answer.count)} of all ${plural(answer.of, 'state')}, ${here}.` : `${here}; the other states were not searched.`),
      answer.whole ? null : button('Search all states', () => find(true), { class: 'small' }),
      matches.slice(0, maxListed).map((s) => button(stateText(graph.vars, s), () => goTo(s), { class: 'small mono', 'aria-label': `Show ${stateText(graph.vars, s)}` })),
      matches.length > maxListed ? el('span', { class: 'soft' }, `the first ${maxListed}`) : null, button('Clear', () => forgetSearch(), { class: 'small', 'aria-label': 'Clear the search' }));
    redraw();
    return answer;
  });

  // goTo selects a state and moves the picture to it; a state that is not shown is added.
  const goTo = attempt(async (state) => {
    const n = graph?.nodes.find((m) => key(m.state) === key(state));
    if (!n) { await add([state]); return; }
    choose(n);
    canvas.reveal(picture.positions.get(key(state)));
  });

  // offerKinds offers end components of models with choices only: in chains they are the BSCCs.
  function offerKinds() {
    const mec = [...coloured.options].find((o) => o.value === 'mec');
    mec.hidden = mec.disabled = ['DTMC', 'CTMC', 'IDTMC'].includes(graph.type);
    if (mec.disabled && coloured.value === 'mec') { coloured.value = ''; components = null; }
  }

  // colour asks for the components of the shown states: those of the whole state space, or of the expanded part of a large one unless all is set.
  const colour = attempt(async (all) => {
    const kind = coloured.value;
    if (!kind || !graph) { components = null; clear(componentLegend); redraw(); return; }
    const list = states();
    const [, answer] = await current.answer(`${kinds[kind]}s`, 'components', 'components', { kind, shown: list, open, all }, true);
    if (coloured.value !== kind) return;
    if (answer.whole) total = answer.of;
    components = { name: kinds[kind], of: new Map(list.flatMap((s, i) => (answer.component[i] ? [[key(s), answer.component[i]]] : []))), answer };
    showComponents();
    redraw();
  });

  function showComponents() {
    const { name, answer } = components;
    const shown = Object.entries(answer.states).map(([i, n]) => [Number(i), n]).sort(([i, n], [j, m]) => m - n || i - j);
    const others = shown.length - maxLegend;
    const limit = name === 'BSCC' ? 'the whole model can have others' : `in the whole model an ${name} can be larger`;
    clear(componentLegend, el('p', {}, answer.whole ? `${plural(answer.count, name)} of all ${plural(answer.of, 'state')}; ${shown.length} in the picture. ` : `${plural(answer.count, name)} of the ${plural(answer.of, 'expanded state')} only: ${limit}. `,
      answer.whole ? null : button('Analyse all states', () => colour(true), { class: 'small' })),
    el('ul', { class: 'legend', 'aria-label': `${name}s` }, shown.slice(0, maxLegend).map(([i, n]) => el('li', {}, el('span', { class: `swatch k${componentColour(i)}` }), `${name} ${i}: ${plural(n, 'state')}`)),
      others > 0 ? el('li', { class: 'soft' }, `and ${plural(others, 'other')} in the picture, none larger`) : null));
  }

  function componentText(n) {
    const i = components?.of.get(key(n.state));
    return i ? `${components.name} ${i} with ${plural(components.answer.states[i], 'state')}` : null;
  }

  function showLegend() {
    clear(players, graph.players ? el('ul', { class: 'legend', 'aria-label': 'Players' }, graph.players.map((name, i) => el('li', {}, playerIcon(i), `${name} moves`))) : null);
    clear(legend, graph.labels.length ? legendOf(graph.labels) : null,
      el('p', { class: 'soft screen' }, 'Click a state, or press Enter on it, to expand it. Shift and a click compares it with the selected one. A double frame is an initial state, a dashed one has not been expanded, ★ is the best choice, a dashed thick line the likeliest path, a dotted ring a state that was found.'));
  }

  // describe shows the panel of the selected state. What has the focus in it keeps it, or gives it to the heading.
  function describe() {
    if (!graph || !chosen) return;
    const focused = panel.contains(document.activeElement) ? document.activeElement.textContent : null;
    clear(panel, details(graph, chosen, { compared, component: componentText(chosen), incoming: incomingOf(chosen), act }));
    if (focused === null) return;
    const name = { Expand: 'Collapse', Collapse: 'Expand', 'Compare with…': 'End the comparison', 'End the comparison': 'Compare with…' };
    const heading = panel.querySelector('h2');
    heading.tabIndex = -1;
    ([...panel.querySelectorAll('.row button')].find((b) => b.textContent === focused || b.textContent === name[focused]) || heading).focus();
  }

  function setSmallest(pixels) {
    localStorage.setItem('smallest text', pixels);
    picture.smallest = Number(pixels);
    canvas.least = Math.min(1, picture.smallest / 12);
    picture.fitTexts();
  }

  let entering = false;
  const filled = () => document.body.classList.contains('full');
  function fill(yes) {
    document.body.classList.toggle('full', yes);
    fullScreen.setAttribute('aria-pressed', String(yes));
    fullScreen.textContent = yes ? 'Leave full screen' : 'Full screen';
  }

  // toggleFullScreen gives the whole screen to the picture; in a browser that refuses it, the whole window.
  async function toggleFullScreen() {
    if (filled()) { await leaveFullScreen(); return; }
    fill(true);
    entering = true; // an event of an earlier leaving may still come
    await document.documentElement.requestFullscreen?.().catch(() => {});
    entering = false;
  }

  async function leaveFullScreen() {
    fill(false);
    if (document.fullscreenElement) await document.exitFullscreen();
  }

  document.addEventListener('fullscreenchange', () => { if (!document.fullscreenElement && !entering) fill(false); });
  canvas.element.addEventListener('keydown', (e) => { if (e.key === 'f' && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); attempt(toggleFullScreen)(); } });
  element.addEventListener('keydown', (e) => { if (e.key === 'Escape' && filled()) attempt(leaveFullScreen)(); });

  // markPath marks a path as the likeliest one.
  function markPath(states) {
    path = new Set(states.map(key));
    steps = new Set(states.slice(1).map((s, i) => key(states[i]) + '>' + key(s)));
  }

  async function likeliest(miss) {
    if (property.value === '') { status.error({ message: 'choose a property with P first' }); return; }
    const [, answer] = await current.answer(miss ? 'Likeliest path to failure' : 'Likeliest path to the goal', 'explore', 'path', { ...asked(), miss });
    await showPath(answer.states, answer.states);
    say(`The likeliest path ${miss ? 'to failure' : 'to the goal'} has ${answer.states.length - 1} steps and probability ${answer.fraction ? answer.fraction + ' = ' : ''}${number(answer.probability)}.`);
  }

  // showPath shows states instead of those before, and marks a path.
  async function showPath(states, list) {
    markPath(states);
    open = unite([], list).slice(0, 100);
    roots = [states[0]];
    chosen = { state: states[0] };
    await refresh();
  }

  // showWhy shows the paths that explain the value of a property, the likeliest one marked.
  async function showWhy(index) {
    listProperties();
    property.value = String(index);
    const [, answer] = await current.answer('Why', 'explore', 'why', { property: index });
    const [first] = answer.paths;
    await showPath(first.states, answer.paths.flatMap((p) => p.states));
    const how = answer.holds ? 'satisfying' : 'violating';
    const wanted = answer.wanted ? ` (wanted: ${answer.wanted})` : '';
    const likely = `${first.states.length - 1} steps and probability ${first.fraction || number(toNumber(first.probability), 4)}`;
    clear(why, el('p', { class: 'why' }, el('code', {}, doc.properties[index]?.text || ''), ` is ${verdictText(answer.verdict)}. `,
      answer.count > 1 ? `${answer.count} paths ${how} the formula have probability ${number(toNumber(answer.probability), 4)}${wanted}. The likeliest, the dashed thick line, has ${likely}.`
        : `The likeliest path ${how} the formula, the dashed thick line, has ${likely}${wanted}.`));
  }

  // look shows a state, beside what is shown already.
  async function look(state) {
    if (current.outdated) reset();
    if (graph?.nodes.some((n) => key(n.state) === key(state))) await goTo(state);
    else await add([state]);
  }

  function listProperties() {
    const value = property.value;
    const next = choice([['', 'no property'], ...(doc.properties || []).filter((p) => !p.error).map((p) => [String(p.index), (p.name ? p.name + ': ' : '') + p.text])], value, () => refresh());
    property.replaceWith(next);
    property = next;
  }
  doc.addEventListener('diagnosed', listProperties);
  doc.addEventListener('picked', () => { if (element.isConnected && current.outdated) again(); });
  return { element, why: showWhy, look, show() { listProperties(); if (current.outdated) resume(); }, hide: () => { if (filled()) leaveFullScreen(); } };
}
