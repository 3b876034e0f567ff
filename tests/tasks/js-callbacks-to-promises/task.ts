import { readAll, run, write } from '../expert.ts';
import { expectExit, found, textOf } from '../reading.ts';
import { defineTask } from '../task.ts';

const searchOf = (read: string) => `/** The names of the notes that have a word, sorted. */
export async function search(store, word) {
  const names = await store.list();
  const texts = await Promise.all(names.map((name) => ${read}));
  return names.filter((_, at) => texts[at]?.includes(word));
}
`;

export const task = defineTask({
  kind: 'migration',
  language: 'JavaScript',
  prompt:
    'Please move notestore from callbacks to promises: openStore, the methods of the store and search return promises and take no callback any more; the command line does the same as before (an error is one line on stderr and exit code 1). Every error has to reach the caller: search swallows those of read today. Adapt tests and README.',
  tests: 'node --test',
  check: 'node --test test/store.test.js',
  wrong: {
    'promisify around': [
      {
        file: 'src/store.js',
        from: 'export function openStore(folder, done) {',
        to: `import { promisify } from 'node:util';\n\nexport const openStore = promisify(open);\n\nfunction open(folder, done) {`,
      },
      {
        file: 'src/store.js',
        from: '    this.#folder = folder;',
        to: `    this.#folder = folder;\n    for (const name of ['read', 'write', 'list']) this[name] = promisify(Store.prototype[name].bind(this));`,
      },
      {
        file: 'src/search.js',
        from: 'export function search(store, word, done) {',
        to: 'export async function search(store, word) {\n  const names = await store.list();\n  const texts = await Promise.all(names.map((name) => store.read(name).catch(() => null)));\n  return names.filter((_, at) => texts[at]?.includes(word));\n}\n\nfunction old(store, word, done) {',
      },
    ],
  },
  *expert() {
    const names = (yield* run('git ls-files')).split('\n').filter((name) => /\.(js|md)$/.test(name));
    const texts = yield* readAll(...names);
    const at = (end: string) => names.findIndex((name) => name.endsWith(end));
    const store = textOf(texts[at('store.js')] ?? '');
    const cli = textOf(texts[at('cli.js')] ?? '');
    const tests = textOf(texts[at('store.test.js')] ?? '');
    const readme = textOf(texts[at('README.md')] ?? '');
    const missing = found(store, /code === '(\w+)'/);
    const path = store.slice(store.indexOf('  #path(name)'));
    yield* write(
      'src/store.js',
      `import fs from 'node:fs/promises';
import path from 'node:path';
import { checkName } from './names.js';

export async function openStore(folder) {
  await fs.mkdir(folder, { recursive: true });
  return new Store(folder);
}

class Store {
  #folder;

  constructor(folder) {
    this.#folder = folder;
  }

  /** The text of a note; null when there is none. */
  async read(name) {
    try {
      return await fs.readFile(this.#path(name), 'utf8');
    } catch (error) {
      if (error.code === '${missing}') return null;
      throw error;
    }
  }

  async write(name, text) {
    await fs.writeFile(this.#path(name), text);
  }

  async list() {
    const files = await fs.readdir(this.#folder);
    return files.filter((file) => file.endsWith('.txt')).map((file) => file.slice(0, -4)).sort();
  }

${path.replace('#path(name) {', '#path(name) {\n    const wrong = checkName(name);\n    if (wrong) throw wrong;')}`,
    );
    yield* write('src/search.js', searchOf('store.read(name)'));
    const first = cli.slice(0, cli.indexOf('openStore(folder'));
    yield* write(
      'src/cli.js',
      `${first}try {
  const store = await openStore(folder);
  const value = await answer(store);
  if (value !== undefined) console.log([value].flat().join('\\n'));
} catch (error) {
  console.error(error.message);
  process.exitCode = 1;
}

function answer(store) {
  if (command === 'write') return store.write(rest[0], rest[1]);
  if (command === 'read') return store.read(rest[0]);
  if (command === 'search') return search(store, rest[0]);
  return store.list();
}
`,
    );
    yield* write(
      'test/store.test.js',
      tests
        .replace("import { promisify } from 'node:util';\n", '')
        .replace('promisify(openStore)(', 'openStore(')
        .replace(/^const call = .*\n/m, '')
        .replace('promisify(search)(', 'search(')
        .replaceAll(/call\(store, '(\w+)'(?:, )?/g, 'store.$1('),
    );
    yield* write(
      'README.md',
      readme
        .replace('openStore(folder, (error, store) => …)', 'const store = await openStore(folder);')
        .replaceAll(/store\.(\w+)\((.*?)(?:, )?\(error.*$/gm, 'await store.$1($2);'),
    );
    expectExit(
      yield* run(
        'cat README.md && node --test && node src/cli.js /tmp/n write a hello && node src/cli.js /tmp/n search hell',
      ),
      0,
    );
    yield* run('git diff --stat && grep -rn "done\\|(error, " src || true');
    return 'All of notestore returns promises; the command awaits them and prints an error as one line. Errors of read now end a search. Tests and README follow.';
  },
});
