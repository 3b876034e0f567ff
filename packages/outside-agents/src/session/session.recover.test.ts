import { gzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { foldSession, nextState, resultsIn } from './session.ts';

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

test('a session of Claude Code has the results of its tools and of its prompts, and none that was made up at a start', () => {
  const line = (content: object[], more: object = {}) =>
    `${JSON.stringify({ type: 'user', message: { role: 'user', content }, ...more })}\n`;
  const result = (id: string, content: unknown = 'out') => ({ type: 'tool_result', tool_use_id: id, content });
  const interrupted = '[Tool call interrupted: the session ended before this call\u2019s result was recorded]';
  const written = [
    line([result('toolu_1'), result('toolu_2', [{ type: 'text', text: 'out' }])]),
    line([result('toolu_3', interrupted)], { toolDenialKind: 'interrupted' }),
    line([result('toolu_4', interrupted)]),
    line([
      { type: 'text', text: 'They have ended:\n\n## Call toolu_5: Bash {}\nout\n\n## Call call_6.2: Bash {}\nout' },
    ]),
    `${JSON.stringify({ type: 'assistant', message: { content: [{ type: 'tool_use', id: 'toolu_7' }] } })}\n`,
    line([result('toolu_8')]).slice(0, -20),
  ].join('');
  const changed = [
    { path: 'a/b.jsonl', bytes: Buffer.byteLength(written), blocks: [[0, base64(written)]] as [number, string][] },
  ];
  const known = (agent: string) => resultsIn(agent, [packed({ changed })]);
  expect([...(known('claude-code:native') ?? [])].sort()).toEqual(['call_6.2', 'toolu_1', 'toolu_2', 'toolu_5']);
  expect(known('codex')).toBeUndefined();
  expect(resultsIn('claude-code', [{ data: 'broken' }])).toBeUndefined();
});
