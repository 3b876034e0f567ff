import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createDurably, writeDurably } from './durable-files.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'holdpoint-durable-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Runs code in a process of its own, with the functions of this module. */
const run = (code: string) => {
  const module = JSON.stringify(join(import.meta.dirname, 'durable-files.ts'));
  const text = `import { writeDurably, createDurably } from ${module}; ${code}`;
  return spawn(process.execPath, ['--input-type=module', '-e', text], { stdio: ['ignore', 'pipe', 'inherit'] });
};

test('a file is replaced as a whole, with the wanted mode, and no other file stays', async () => {
  const file = join(folder, 'some');
  await writeDurably(file, 'old');
  await writeDurably(file, Buffer.from('new'), 0o640);
  expect([readFileSync(file, 'utf8'), statSync(file).mode & 0o777]).toEqual(['new', 0o640]);
  expect(readdirSync(folder)).toEqual(['some']);
  await expect(writeDurably(join(folder, 'some/below'), 'x')).rejects.toMatchObject({ code: 'ENOTDIR' });
  await expect(writeDurably(folder, 'x')).rejects.toThrow();
  expect(readdirSync(join(folder, '..')).filter((name) => name.startsWith(`.${folder.split('/').at(-1)}`))).toEqual([]);
});

test('of many creators in several processes the first wins', async () => {
  const file = join(folder, 'created');
  const code = `await Promise.all(Array.from({ length: 20 }, (_, n) => createDurably(${JSON.stringify(file)}, process.pid + '.' + n)));`;
  const all = Array.from({ length: 3 }, () => once(run(code), 'close'));
  await createDurably(file, 'own');
  const first = readFileSync(file, 'utf8');
  expect((await Promise.all(all)).map(([status]) => status)).toEqual([0, 0, 0]);
  expect(readFileSync(file, 'utf8')).toBe(first);
  expect(readdirSync(folder).filter((name) => name.endsWith('.tmp'))).toEqual([]);
});

test('a writer killed at any moment leaves the old or the new content, and hidden files alone', async () => {
  const file = join(folder, 'killed');
  const content = (n: number) => `${n} `.repeat(20_000);
  await writeDurably(file, content(0));
  for (let round = 0; round < 6; round++) {
    const code = `for (let n = 0; ; n++) { await writeDurably(${JSON.stringify(file)}, (n + ' ').repeat(20000)); if (n === ${round}) console.log('begun'); }`;
    const child = run(code);
    await once(child.stdout ?? child, 'data');
    child.kill('SIGKILL');
    await once(child, 'close');
    const text = readFileSync(file, 'utf8');
    expect(text).toBe(content(Number(text.slice(0, text.indexOf(' ')))));
  }
  const left = readdirSync(folder).filter((name) => name.endsWith('.tmp'));
  expect(left.filter((name) => !/^\.killed\.[0-9a-f]{8}-[0-9a-f-]{27}\.tmp$/.test(name))).toEqual([]);
});
