import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ServedRun, useServerHost } from './testing/server-host.ts';

/** A server of the workspace is a program of the workspace's author. Here each program claims to be pyright. */
const host = useServerHost();

const text = 'name = 1\n';

/** @param answer the body of its handler for `message`; `send` sends a message, `reply` answers */
function lying(answer: string): ServedRun {
  const program = `
    let rest = Buffer.alloc(0);
    const send = (message) => {
      const body = JSON.stringify({ jsonrpc: '2.0', ...message });
      process.stdout.write('Content-Length: ' + Buffer.byteLength(body) + '\\r\\n\\r\\n' + body);
    };
    process.stdin.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const head = rest.indexOf('\\r\\n\\r\\n');
        if (head < 0) return;
        const length = Number(/Content-Length: (\\d+)/.exec(rest.subarray(0, head))[1]);
        if (rest.length < head + 4 + length) return;
        const message = JSON.parse(rest.subarray(head + 4, head + 4 + length));
        rest = rest.subarray(head + 4 + length);
        const reply = (result) => send({ id: message.id, result });
        if (message.method === 'initialize') { reply({ capabilities: {} }); continue; }
        ${answer}
      }
    });`;
  return host.run({
    'a.py': text,
    'node_modules/pyright/package.json': '{}',
    'node_modules/pyright/langserver.index.js': program,
  });
}

const range = (line: number, from: number, to: number) =>
  JSON.stringify({ start: { line, character: from }, end: { line, character: to } });
const ask = (run: ServedRun, more: object = {}) =>
  host.servers.definition({ ...run.named('a.py', 1, 'name'), wait_ms: 1500, ...more });
const rename = (run: ServedRun) =>
  host.servers.rename({ ...run.named('a.py', 1, 'name'), wait_ms: 1500, new_name: 'b' });

test.each([
  ['ends', 'process.stderr.write("no licence"); process.exit(3)', /exit code 3: no licence/],
  ['answers no JSON', 'process.stdout.write("Content-Length: 5\\r\\n\\r\\nhello")', /./],
])('a server that %s fails the question with its words', async (_, answer, words) => {
  const run = lying(answer);
  await expect(ask(run)).rejects.toMatchObject({ code: 'ESERVER', message: expect.stringMatching(words) });
});

test('a server that refuses a question is asked the next one', async () => {
  const run = lying('if (message.id) send({ id: message.id, error: { code: -1, message: "not today" } })');
  const refused = { code: 'EREFUSED', message: 'pyright refused: not today' };
  for (let round = 0; round < 4; round++) await expect(ask(run)).rejects.toMatchObject(refused);
});

test.each([
  ['never answers', ''],
  ['works for ever', 'send({ method: "$/progress", params: { token: 1, value: { kind: "begin" } } })'],
  ['sends without an end', 'setInterval(() => send({ method: "x", params: "y".repeat(1e6) }), 1)'],
])('a server that %s is not waited for', async (_, answer) => {
  const run = lying(answer);
  await expect(ask(run)).rejects.toMatchObject({ code: expect.stringMatching(/^(ETIMEOUT|ESERVER)$/) });
});

test('a server that ended twice is not started again', async () => {
  const run = lying('process.exit(3)');
  for (let round = 0; round < 2; round++) await expect(ask(run)).rejects.toMatchObject({ code: 'ESERVER' });
  await expect(ask(run)).rejects.toMatchObject({ code: 'ESERVER', message: 'pyright ended before, twice.' });
});

test('places outside of the workspace have the text of the sandbox, and no answer is larger than its bounds', async () => {
  const place = (uri: string) => `{ uri: '${uri}', range: ${range(0, 0, 1)} }`;
  const run = lying(`if (message.id) reply([${place('file:///etc/shadow')}, ${place('http://example.com/a')},
    ${place('file:///workspace/../etc/passwd')}, ...Array(5000).fill(${place('file:///workspace/a.py')})])`);
  const { places, total } = await ask(run);
  expect(total).toBe(5002);
  expect(places).toHaveLength(500);
  // The sandbox has users of its own, and no shadow.
  const root = expect.stringMatching(/^root:.*nologin$/);
  expect(places.slice(0, 2)).toMatchObject([
    { path: '/etc/passwd', text: root },
    { path: '/etc/shadow', text: '' },
  ]);
});

test.each([
  ['of a file outside', '/etc/passwd'],
  ['of a library', '/workspace/node_modules/pyright/package.json'],
  ['of a missing file', '/workspace/none.py'],
])('a rename %s is refused', async (_, path) => {
  const run = lying(
    `if (message.id) reply({ changes: { 'file://${path}': [{ range: ${range(0, 0, 1)}, newText: 'b' }] } })`,
  );
  await expect(rename(run)).rejects.toMatchObject({ code: 'ERENAME' });
});

test('a rename that makes or removes files is refused', async () => {
  const run = lying(`if (message.id) reply({ documentChanges: [{ kind: 'delete', uri: 'file:///workspace/a.py' }] })`);
  await expect(rename(run)).rejects.toMatchObject({ code: 'ERENAME', message: expect.stringContaining('delete') });
});

test('errors of other files than the changed ones are not reported', async () => {
  const run = lying(`const { uri, version } = message.params?.textDocument ?? {};
    if (uri) for (const one of [uri, 'file:///workspace/other.py'])
      send({ method: 'textDocument/publishDiagnostics', params: { uri: one, version,
        diagnostics: version > 1 ? [{ range: ${range(0, 0, 1)}, message: 'wrong' }] : [] } })`);
  expect(await run.diagnose('a.py', text, 'name = 2\n')).toEqual([]);
});

test('a server cannot write to the tree, nor reach a network', async () => {
  const run = lying(`if (message.id) {
      const fs = require('node:fs');
      const tries = [];
      for (const act of [() => fs.writeFileSync('/workspace/made', 'x'), () => fs.readdirSync('/sys/class/net')]) {
        try { act(); tries.push('done'); } catch (error) { tries.push(error.code); }
      }
      send({ id: message.id, error: { code: -1, message: tries.join() } });
    }`);
  await expect(ask(run)).rejects.toMatchObject({ message: 'pyright refused: EROFS,ENOENT' });
  expect(existsSync(join(run.mount.path, 'made'))).toBe(false);
});

test('an answer ends with the call that asked', async () => {
  const run = lying('');
  await expect(ask(run, { signal: AbortSignal.timeout(100) })).rejects.toMatchObject({ name: 'TimeoutError' });
});
