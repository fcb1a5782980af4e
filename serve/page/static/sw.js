// The playground without a network: its files as they were when they came, all of one version. tilecheck serve gives out this file without a list,
// which ends what a playground has left in the browser at the same address.
const files = {}; // by name, what each must be

const mine = `tilecheck ${self.registration.scope} `;
const cache = mine + '';

// get is a file, from the network if what the browser has kept is another one.
const get = (name) => {
  const options = { integrity: files[name], credentials: 'same-origin' };
  return fetch(name, options).catch(() => fetch(name, { ...options, cache: 'reload' }));
};

async function install() {
  const store = await caches.open(cache);
  await Promise.all(Object.keys(files).map(async (name) => store.put(name, await get(name))));
}

async function activate() {
  for (const name of await caches.keys()) if (name.startsWith(mine) && !(kept() && name === cache)) await caches.delete(name);
  if (kept()) { await self.clients.claim(); return; }
  await self.registration.unregister();
  for (const client of await self.clients.matchAll({ type: 'window' })) client.navigate(client.url);
}

const kept = () => Object.keys(files).length > 0;

self.addEventListener('install', (e) => { if (kept()) e.waitUntil(install()); else self.skipWaiting(); });
self.addEventListener('activate', (e) => e.waitUntil(activate()));
// A new version begins when a page is opened, unless another page has files of the old one.
self.addEventListener('message', async (e) => {
  const pages = await self.clients.matchAll({ type: 'window', includeUncontrolled: true });
  if (pages.length < 2) self.skipWaiting();
  else e.source.postMessage('later');
});

self.addEventListener('fetch', (e) => {
  const name = e.request.url.replace(/[?#].*/, '').slice(self.registration.scope.length) || 'index.html';
  if (e.request.method !== 'GET' || !e.request.url.startsWith(self.registration.scope) || !Object.hasOwn(files, name)) return;
  e.respondWith(caches.open(cache).then((store) => store.match(name)).then((kept) => kept || fetch(e.request)));
});
