import { search } from './search.js';
import { openStore } from './store.js';

const [folder, command, ...rest] = process.argv.slice(2);

openStore(folder, (error, store) => {
  if (error) return fail(error);
  if (command === 'write') return store.write(rest[0], rest[1], (error) => error && fail(error));
  const print = (error, value) => (error ? fail(error) : console.log([value].flat().join('\n')));
  if (command === 'read') return store.read(rest[0], print);
  if (command === 'search') return search(store, rest[0], print);
  store.list(print);
});

function fail(error) {
  console.error(error.message);
  process.exitCode = 1;
}
