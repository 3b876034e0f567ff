import { edit, grep, read, run } from '../expert.ts';
import { expectExit, hitsInCode, part } from '../reading.ts';
import { defineTask } from '../task.ts';

const file = 'src/emitter.ts';
const loop = 'for (const entry of entries) {';

export const task = defineTask({
  kind: 'bug',
  language: 'TypeScript',
  prompt:
    'With two once() listeners on one event only the first is called; the second one is skipped until the next event. Similar things happen when a listener removes another one. What we want: during an event, listeners that were removed are not called any more, listeners that were added are called from the next event on, a once listener is called once even if it throws or emits the same event again, and the function that on()/once() return removes exactly that registration. Order stays.',
  tests: 'node --test',
  check: 'node --test test/hidden.test.ts test/emitter.test.ts',
  wrong: {
    'a copy': [{ file, from: loop, to: 'for (const entry of [...entries]) {' }],
    backwards: [{ file, from: loop, to: 'for (const entry of entries.toReversed()) {' }],
  },
  *expert() {
    const [place] = hitsInCode(yield* grep('this\\.off\\('));
    const path = place?.path ?? '';
    const code = yield* read(path);
    yield* run('node --test');
    yield* edit(path, part(code, '  once: boolean;'), '  once: boolean;\n  removed: boolean;');
    yield* edit(
      path,
      part(code, 'once: false });'),
      '    return this.#add(name, { listener, once: false, removed: false });',
    );
    yield* edit(
      path,
      part(code, 'once: true });'),
      '    return this.#add(name, { listener, once: true, removed: false });',
    );
    yield* edit(
      path,
      part(code, 'const at = entries.findLastIndex', 'if (at >= 0)'),
      '    const entry = entries.findLast((one) => one.listener === listener);\n    if (entry !== undefined) this.#remove(name, entry);',
    );
    yield* edit(
      path,
      part(code, loop, 'if (entry.once)'),
      `    for (const entry of [...entries]) {
      if (entry.removed) continue;
      if (entry.once) this.#remove(name, entry);
      called += 1;
      entry.listener(...values);`,
    );
    yield* edit(
      path,
      part(code, 'return () => this.off(name', '  }'),
      `    return () => this.#remove(name, entry);
  }

  #remove(name: string, entry: Entry): void {
    entry.removed = true;
    const entries = this.#entries.get(name) ?? [];
    const at = entries.indexOf(entry);
    if (at >= 0) entries.splice(at, 1);
  }`,
    );
    const test = `
test('two once listeners', () => {
  const emitter = new Emitter();
  const calls: string[] = [];
  emitter.once('x', () => calls.push('a'));
  emitter.once('x', () => calls.push('b'));
  emitter.emit('x');
  assert.deepEqual(calls, ['a', 'b']);
});`;
    expectExit(yield* run(`cat >> test/emitter.test.ts <<'END'\n${test}\nEND\nnode --test`), 0);
    yield* run('git diff src');
    return 'emit goes through a copy and leaves out what was removed; a once listener is removed before its call; the returned function removes its own registration. Tests pass.';
  },
});
