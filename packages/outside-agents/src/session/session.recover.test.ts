import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldSession, nextState } from './session.ts';

interface Change {
  removed?: string[];
  changed?: { path: string; bytes: number; blocks: [number, string][] }[];
}

const packed = ({ removed = [], changed = [] }: Change) => ({
  data: gzipSync(JSON.stringify({ removed, changed })).toString('base64'),
});
const base64 = (text: string) => Buffer.from(text).toString('base64');

test('the changes in order are the files: another way to write them finds the same', () => {
  const version = fc.dictionary(fc.constantFrom('a', 'b/c', 'b/d'), fc.string({ maxLength: 40, unit: 'binary' }), {
    noNullPrototype: true,
  });
  fc.assert(
    fc.property(fc.array(version, { minLength: 1, maxLength: 6 }), (versions) => {
      let before: Record<string, string> = {};
      const changes = versions.map((files) => {
        const removed = Object.keys(before).filter((path) => !(path in files));
        const changed = Object.entries(files).map(([path, text]) => {
          const [old, now] = [Buffer.from(before[path] ?? ''), Buffer.from(text)];
          // Single bytes that differ.
          const blocks = [...now].flatMap((byte, at): [number, string][] =>
            old[at] === byte ? [] : [[at, Buffer.from([byte]).toString('base64')]],
          );
          return { path, bytes: now.length, blocks };
        });
        before = files;
        return packed({ removed, changed });
      });
      const folded = Object.fromEntries([...foldSession(changes)].map(([path, content]) => [path, content.toString()]));
      const wanted = Object.fromEntries(
        Object.entries(versions.at(-1) ?? {}).map(([path, text]) => [path, Buffer.from(text).toString()]),
      );
      expect(folded).toEqual(wanted);
    }),
  );
});

test.each([
  ['a path to elsewhere', packed({ changed: [{ path: '../other', bytes: 0, blocks: [] }] })],
  ['an absolute path', packed({ changed: [{ path: '/etc/passwd', bytes: 0, blocks: [] }] })],
  ['a block behind the end', packed({ changed: [{ path: 'a', bytes: 1, blocks: [[0, base64('two')]] }] })],
  ['a file of 10 GB', packed({ changed: [{ path: 'a', bytes: 1e10, blocks: [] }] })],
  ['files of 100 MB together', packed({ changed: ['a', 'b'].map((path) => ({ path, bytes: 50e6, blocks: [] })) })],
  ['no JSON', { data: gzipSync('no').toString('base64') }],
  ['no gzip', { data: base64('no') }],
  ['a bomb', { data: gzipSync(Buffer.alloc(300e6)).toString('base64') }],
])('%s is no session', (_, change) => {
  expect(() => foldSession([change])).toThrow(expect.objectContaining({ name: 'SessionError' }));
});

test('the name of a state depends on the whole past', () => {
  const [one, other] = [{ data: 'one' }, { data: 'other' }];
  const both = nextState(nextState('', one), other);
  expect(nextState(nextState('', one), other)).toBe(both);
  expect(nextState(nextState('', other), one)).not.toBe(both);
});
