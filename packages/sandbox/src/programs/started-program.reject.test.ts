import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { marker, processesWith, until, useTestHost } from '../testing/host.ts';
import type { ProgramProcess } from '../tree.ts';

const { host } = useTestHost();
let directory: string;
beforeAll(() => {
  directory = join(host.directory, 'programs');
  mkdirSync(directory, { mode: 0o755 });
});

let started = 0;
/** A real sandbox with a program of the test. `answer` is the body of its request handler; `say` writes a line. */
function program(answer: string, more: { idleMs?: number; maxLineBytes?: number } = {}) {
  const main = join(directory, `program-${++started}.mjs`);
  const text = `
    import fs from 'node:fs';
    const say = (text) => process.stdout.write(text + '\\n');
    let rest = Buffer.alloc(0);
    process.stdin.on('data', (chunk) => {
      rest = Buffer.concat([rest, chunk]);
      for (;;) {
        const end = rest.indexOf(10);
        if (end === -1) return;
        const header = JSON.parse(rest.subarray(0, end));
        if (rest.length < end + 1 + header.bytes) return;
        const content = rest.subarray(end + 1, end + 1 + header.bytes);
        rest = rest.subarray(end + 1 + header.bytes);
        ${answer}
      }
    });`;
  writeFileSync(main, text, { mode: 0o644 });
  const word = marker();
  const { uid, gid } = host.makeWorkspace();
  const run = { id: `run_program_${word}`, uid, gid };
  const files = [{ host: directory, inside: '/opt/holdpoint/programs' }];
  const bounds = { memory_bytes: 2 ** 31, maxLineBytes: 1024 * 1024, idleMs: 60_000, ...more };
  const process = host.sandbox.start(run, {
    name: 'program',
    main,
    files,
    nodeOptions: [`--title=${word}`],
    ...bounds,
  });
  const ended = async () => {
    await until(() => processesWith(word).length === 0);
  };
  return { run, process, ended };
}

const ask = (to: ProgramProcess, header: object, content = '', timeoutMs = 20_000) =>
  to.request(header, Buffer.from(content), { timeoutMs }).then((line) => line.toString());
const lost = { name: 'SandboxError', code: 'EPROGRAMLOST', retryable: true };

test('answers come in the order of the requests, with any bytes between them', async () => {
  const { process, ended } = program('say(header.n + " " + content.toString("hex"))');
  const contents = ['', 'a\nb', '\0{"bytes":9}\n', 'é'.repeat(70_000)];
  const answers = await Promise.all(contents.map((content, n) => ask(process, { n }, content)));
  expect(answers).toEqual(contents.map((content, n) => `${n} ${Buffer.from(content).toString('hex')}`));
  await process.close();
  await ended();
});

test('it has no network, no file of a run and nothing to write', async () => {
  const { process } = program(`
    const tries = {};
    const attempt = (name, act) => { try { tries[name] = act() ?? 'done'; } catch (error) { tries[name] = error.code; } };
    attempt('workspace', () => fs.readdirSync('/workspace').length);
    attempt('write', () => fs.writeFileSync('/workspace/x', 'x'));
    attempt('source', () => fs.writeFileSync('/opt/holdpoint/programs/x', 'x'));
    attempt('large', () => fs.writeFileSync('/tmp/x', 'x'.repeat(10_000)));
    attempt('networks', () => fs.readdirSync('/sys/class/net').join());
    say(JSON.stringify(tries));`);
  const tries = JSON.parse(await ask(process, {})) as Record<string, unknown>;
  expect(tries).toMatchObject({ workspace: 0, write: 'EROFS', source: 'EROFS', large: 'EFBIG' });
  expect(tries.networks).toBe('ENOENT');
  expect(readdirSync(join(host.stateDir, 'empty'))).toEqual([]);
  await process.close();
});

test.each([
  ['an answer to no request', 'say("1"); say("2")', 'EPROGRAMVIOLATION'],
  ['a line without end', 'process.stdout.write("x".repeat(2_000_000))', 'EPROGRAMVIOLATION'],
  ['an exit', 'process.stderr.write("out of luck"); process.exit(3)', 'EPROGRAMLOST'],
])('%s ends it', async (_, answer, code) => {
  const { process, ended } = program(answer);
  const first = await ask(process, {}).catch((error: unknown) => error);
  if (first instanceof Error) expect(first).toMatchObject({ code });
  await ended();
  expect(process.usable).toBe(false);
  await expect(ask(process, {})).rejects.toMatchObject({ code });
});

test('only the request that it was working on is late; those behind it did not begin', async () => {
  const { process, ended } = program('if (header.hang) for (;;); say("done")');
  expect(await ask(process, {})).toBe('done');
  const [late, behind] = await Promise.allSettled([ask(process, { hang: true }, '', 300), ask(process, {}, '', 1)]);
  expect(late).toMatchObject({ status: 'rejected', reason: { code: 'EPROGRAMTIMEOUT' } });
  expect(behind).toMatchObject({ status: 'rejected', reason: { ...lost, cause: { code: 'EPROGRAMTIMEOUT' } } });
  await ended();
});

test('killAll of its run and closing the sandbox end it', async () => {
  const { run, process, ended } = program('if (header.n > 0) say("1")');
  await ask(process, { n: 1 });
  const open = ask(process, { n: 0 });
  const failed = expect(open).rejects.toMatchObject(lost);
  await host.sandbox.killAll(run.id);
  await failed;
  await ended();
});

test('an idle one ends', async () => {
  const { process, ended } = program('say("1")', { idleMs: 50 });
  await ask(process, {}).catch(() => undefined);
  await ended();
  expect(process.usable).toBe(false);
});

test('memory is bounded', async () => {
  const { process, ended } = program('const all = []; for (;;) all.push(Buffer.alloc(64 << 20, 1))', {});
  await expect(ask(process, {}, '', 100_000)).rejects.toMatchObject({ code: 'EPROGRAMLOST' });
  await ended();
});
