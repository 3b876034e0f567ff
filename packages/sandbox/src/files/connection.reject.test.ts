import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { WorkspaceFiles } from '@holdpoint/contract';
import { beforeAll, expect, test } from 'vitest';
import { IdleProcesses } from '../idle-processes.ts';
import { openTestDriver, processesWith, until, useTestHost } from '../testing/host.ts';
import type { Driver, WorkspaceMount } from '../tree.ts';
import { Connection } from './connection.ts';
import { runSearch } from './search.ts';
import { toolHostFiles } from './tool-host-files.ts';

const { host } = useTestHost();
let driver: Driver;
beforeAll(async () => {
  driver = openTestDriver(join(host.directory, 'hostile'));
});

/** A real sandbox with a hostile program as its tool host. `answer` is the body of its request handler. */
function hostile(answer: string, more: { fileRequestMs?: number; toolHostIdleMs?: number } = {}) {
  const workspace: WorkspaceMount = host.makeWorkspace();
  const program = `
    const say = (value) => process.stdout.write(JSON.stringify(value) + '\\n');
    const fs = require('node:fs');
    fs.appendFileSync('/workspace/starts', 'x');
    require('node:readline').createInterface({ input: process.stdin }).on('line', (line) => {
      const request = JSON.parse(line);
      const ok = { id: request.id, output: { type: 'file', bytes: 1, mode: 420, mtime_ms: 1 } };
      ${answer}
    });
  `;
  writeFileSync(join(workspace.path, 'hostile.cjs'), program, { mode: 0o644 });
  const deps = {
    driver: { ...driver, toolHost: '/workspace/hostile.cjs' },
    idle: new IdleProcesses(16),
    fileRequestMs: 20_000,
    toolHostIdleMs: 60_000,
    ...more,
  };
  const connections: Connection[] = [];
  const connect = () => {
    const last = connections.at(-1);
    if (last?.usable) return last;
    const connection = new Connection(deps, workspace);
    connections.push(connection);
    return connection;
  };
  const files: WorkspaceFiles = toolHostFiles(connect);
  const search = (signal = new AbortController().signal) =>
    runSearch(
      { ...deps, connect, capabilities: host.sandbox.capabilities, limits: { output_bytes: 10_000 }, now: Date.now },
      { workspace, path: '.', args: ['x'], signal },
    );
  const closed = async () => {
    await Promise.all(connections.map((connection) => connection.close()));
    expect(processesWith(workspace.path)).toEqual([]);
  };
  return { files, search, workspace, connections, closed };
}

const violations: [what: string, answer: string][] = [
  ['no JSON', "process.stdout.write('hello\\n')"],
  ['JSON that is no reply', "process.stdout.write('[]\\n')"],
  ['a reply to no request', 'say({ ...ok, id: 99 })'],
  ['the same reply twice', 'say(ok); say(ok)'],
  ['an output of another shape', 'say({ id: request.id, output: { bytes: 0, sha256: null, mode: 420 } })'],
  ['an output with too much in it', "say({ id: request.id, output: { ...ok.output, path: '/etc/passwd' } })"],
  ['a negative size', 'say({ id: request.id, output: { ...ok.output, bytes: -1 } })'],
  ['a prototype', `process.stdout.write('{"id":' + request.id + ',"output":{"__proto__":{"type":"file"}}}\\n')`],
  ['an unknown error code', "say({ id: request.id, refused: { code: 'EVIL', message: '' } })"],
  ['unrequested content', 'say({ ...ok, data: 1 })'],
  [
    'a part of output that was not requested',
    "say({ id: request.id, part: 'stdout', data: 1 }); process.stdout.write('x')",
  ],
  ['too many values', 'say({ ...ok, output: Array(60_000).fill({}) })'],
  ['a value that is nested too deep', `process.stdout.write('['.repeat(1_000_000) + '\\n')`],
  [
    'a line without end',
    "const chunk = 'x'.repeat(1 << 20); const more = () => process.stdout.write(chunk, more); more()",
  ],
];

for (const [what, answer] of violations) {
  test(`${what} kills the tool host and fails the request`, async () => {
    const { files, closed, connections } = hostile(answer);
    const first = await files.stat('f').catch((error: unknown) => error);
    // The second of two replies arrives after the request has succeeded.
    if (!(first instanceof Error)) await until(() => connections[0]?.usable === false);
    else expect(first).toMatchObject({ name: 'SandboxError', code: 'ETOOLHOSTVIOLATION', retryable: true });
    expect(connections[0]?.usable).toBe(false);
    await connections[0]?.ended;
    await closed();
  });
}

const badSearches: [what: string, answer: string][] = [
  ['output without end', "const more = () => { part('x'.repeat(60_000)); setImmediate(more) }; more()"],
  ['a line to parse for each byte', "for (let i = 0; i < 3000; i++) part('x')"],
  ['a part that is larger than a part', "part('x'.repeat(1_100_000))"],
  ['a part of another stream', "say({ id: request.id, part: 'stdin', data: 1 }); process.stdout.write('x')"],
  ['an empty part', "say({ id: request.id, part: 'stdout', data: 0 })"],
  ['an end that is no end', "say({ id: request.id, output: { exit_code: 0, signal: 'rm -rf /', nuls: 0 } })"],
  ['an exit code that no process has', 'say({ id: request.id, output: { exit_code: 4096, signal: null, nuls: 0 } })'],
];

for (const [what, answer] of badSearches) {
  test(`a search whose answer is ${what} kills the tool host`, async () => {
    const part = `const part = (text) => { say({ id: request.id, part: 'stdout', data: text.length }); process.stdout.write(text); };`;
    const ignore = `if (request.operation === 'cancel') return say({ id: request.id, output: {} });`;
    const { search, closed, connections } = hostile(`${part} ${ignore} ${answer}`);
    const found = await search().catch((error: unknown) => error);
    // Too much output is a limit of the search; only what follows is a violation.
    if (found instanceof Error) expect(found).toMatchObject({ code: 'ETOOLHOSTVIOLATION', retryable: true });
    else expect(found).toMatchObject({ end: { quota: 'output', limit: 10_000 } });
    expect(connections[0]?.usable).toBe(false);
    await connections[0]?.ended;
    await closed();
  });
}

test('a tool host that ignores a cancel is killed', async () => {
  const { search, closed, connections } = hostile('', { fileRequestMs: 300 });
  const result = await search(AbortSignal.timeout(50));
  expect(result).toMatchObject({ end: { status: 'killed' }, stdout: { bytes: 0 } });
  expect(connections.map(({ usable }) => usable)).toEqual([false]);
  await closed();
});

test('a tool host that does not answer in time is killed', async () => {
  const { files, closed, connections } = hostile('', { fileRequestMs: 300 });
  await expect(files.stat('f')).rejects.toMatchObject({ code: 'ETOOLHOSTTIMEOUT', retryable: true });
  await connections[0]?.ended;
  await closed();
});

test('an ended tool host is restarted for a read, never for a write', async () => {
  const crashOnce = "if (fs.readFileSync('/workspace/starts').length === 1) process.exit(1); say(ok)";
  const reading = hostile(crashOnce);
  expect(await reading.files.stat('f')).toMatchObject({ type: 'file', bytes: 1 });
  expect(reading.connections).toHaveLength(2);
  await reading.closed();

  const writing = hostile(crashOnce);
  const write = writing.files.write('f', Buffer.from('x'), { expect: { any: true } });
  await expect(write).rejects.toMatchObject({ name: 'SandboxError', code: 'ETOOLHOSTLOST', retryable: true });
  expect(writing.connections).toHaveLength(1);
  await writing.closed();
});

test('a tool host that always ends is restarted once', async () => {
  const { files, connections, closed } = hostile("process.stderr.write('out of luck'); process.exit(9)");
  const error: unknown = await files.stat('f').catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'ETOOLHOSTLOST' });
  expect(String(error)).toContain('out of luck');
  expect(connections).toHaveLength(2);
  await closed();
});

test('every open request fails when the tool host ends', async () => {
  const { files, closed } = hostile('if (request.id === 3) process.exit(1)');
  const options = { expect: { any: true } } as const;
  const settled = await Promise.allSettled(['a', 'b', 'c'].map((path) => files.write(path, Buffer.from('x'), options)));
  expect(settled.map((one) => one.status)).toEqual(['rejected', 'rejected', 'rejected']);
  await closed();
});

test('an idle tool host ends, and the next request starts a new one', async () => {
  const { files, connections, workspace, closed } = hostile('say(ok)', { toolHostIdleMs: 50 });
  await files.stat('f');
  await connections[0]?.ended;
  await files.stat('f');
  expect(connections).toHaveLength(2);
  expect(existsSync(join(workspace.path, 'starts'))).toBe(true);
  await closed();
  expect(readdirSync(host.directory)).not.toContain('escaped');
});
