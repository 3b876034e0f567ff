import { edit, read, readAll, run } from '../expert.ts';
import { expectExit, found, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const file = 'src/cache.ts';

export const task = defineTask({
  kind: 'bug',
  language: 'TypeScript',
  prompt:
    'The cache does not do what the README says: counters with the value 0 are thrown out although they are read all the time, looking with has() keeps dead keys alive, setting a key again throws out another one, and size counts entries that are over. Please make the code match the README.',
  tests: 'node --test',
  check: 'node --test test/hidden.test.ts test/cache.test.ts',
  wrong: {
    'undefined is still nothing': [
      { file, from: 'if (value) this.#touch(key);', to: 'if (value !== undefined) this.#touch(key);' },
      { file, from: 'return this.get(key) !== undefined;', to: 'return this.peek(key) !== undefined;' },
      {
        file,
        from: 'if (this.#entries.size >= max) {',
        to: 'if (!this.#entries.has(key) && this.#entries.size >= max) {',
      },
    ],
    'has by the map': [
      { file, from: 'if (value) this.#touch(key);', to: 'if (this.#entries.has(key)) this.#touch(key);' },
      { file, from: 'return this.get(key) !== undefined;', to: 'return this.#entries.has(key);' },
    ],
  },
  *expert() {
    const [readme = '', index = ''] = yield* readAll('README.md', 'src/index.ts');
    found(readme, /(undefined` included)/);
    const code = yield* read(`src/${found(index, /Cache \} from '.\/(.*?)'/)}`);
    yield* edit(
      file,
      part(code, '  get(key: Key)', '  has(key: Key)'),
      `  get(key: Key): Value | undefined {
    const entry = this.#live(key);
    if (entry !== undefined) this.#touch(key);
    return entry?.value;
  }

  peek(key: Key): Value | undefined {
    return this.#live(key)?.value;
  }

  has(key: Key): boolean {`,
    );
    yield* edit(file, part(code, 'return this.get(key) !== undefined'), '    return this.#live(key) !== undefined;');
    const condition = part(code, '.size >= max');
    yield* edit(file, condition, `    this.#entries.delete(key);\n${condition}`);
    yield* edit(
      file,
      part(code, 'get size()', 'return'),
      '  get size(): number {\n    return [...this.#entries.values()].filter((entry) => !this.#isOver(entry)).length;',
    );
    const touch = part(code, '#touch(key: Key): void');
    yield* edit(
      file,
      touch,
      `  #live(key: Key): Entry<Value> | undefined {
    const entry = this.#entries.get(key);
    return entry === undefined || this.#isOver(entry) ? undefined : entry;
  }

${touch}`,
    );
    const more = `
test('a zero is a value like any other', () => {
  const cache = new Cache<string, number>({ max: 2 });
  cache.set('a', 0).set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  assert.equal(cache.has('a'), true);
});`;
    expectExit(yield* run(`cat >> test/cache.test.ts <<'END'\n${more}\nEND\nnode --test`), 0);
    yield* run('git diff');
    return 'An entry is now found by its place in the map and not by its value; has is no use, a known key evicts nothing, and size leaves out what is over. All tests pass.';
  },
});
