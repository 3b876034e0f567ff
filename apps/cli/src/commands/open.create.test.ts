import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { callInTerminal, start } from '../testing/cli.ts';
import { systemForTests } from '../testing/system.ts';

const { root, env, holdpoint } = systemForTests();
const run = 'run_01890000-0000-7000-8000-000000000000';

async function exchange(link: string): Promise<number> {
  const { origin, hash } = new URL(link);
  const code = new URLSearchParams(hash.slice(1)).get('code');
  const headers = { 'content-type': 'application/json', origin };
  const response = await fetch(`${origin}/v1/session/exchange`, {
    method: 'POST',
    headers,
    body: JSON.stringify({ code }),
  });
  return response.status;
}

test('prints a link that logs in once', async () => {
  const { code, stdout, stderr } = await holdpoint('open');
  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/login#code=hpc_[\w-]{43}\n$/),
  });
  expect(stderr).toContain('once, within a minute');
  expect(await exchange(stdout.trim())).toBe(204);
  expect(await exchange(stdout.trim())).toBe(401);
});

test('leads to a run or an approval, and refuses anything else', async () => {
  const { link } = JSON.parse((await holdpoint('open', run, '--json')).stdout);
  expect(new URLSearchParams(new URL(link).hash.slice(1)).get('to')).toBe(`/runs/${run}`);
  const approval = run.replace('run', 'apr');
  expect((await holdpoint('open', approval)).stdout).toContain(`to=%2Fapprovals%2F${approval}`);
  expect(await holdpoint('open', '//evil.example')).toMatchObject({ code: 2, stdout: '' });
});

test('on a desktop opens a file of this user, and no argument of a program has the code', async () => {
  const bin = join(root, 'bin');
  const seen = join(root, 'opened');
  mkdirSync(bin);
  writeFileSync(join(bin, 'xdg-open'), `#!/bin/sh\nprintf '%s' "$*" > ${seen}.new && mv ${seen}.new ${seen}\n`, {
    mode: 0o755,
  });
  const desktop = { ...env, DISPLAY: ':0', PATH: `${bin}:${process.env.PATH}` };
  const { screen } = await callInTerminal(['open'], desktop);
  const link = /http\S+/.exec(screen)?.[0] ?? '';
  const file = await vi.waitFor(() => readFileSync(seen, 'utf8'), { timeout: 10_000 });
  expect(file).toMatch(/^\/.*\/open\.html$/);
  expect(readFileSync(file, 'utf8')).toContain(`url=${link}"`);
  expect(statSync(file).mode & 0o077).toBe(0);
});

test('`up` prints a link, too', async () => {
  const other = start(['up'], { ...env, HOLDPOINT_DATA: join(root, 'other') });
  try {
    let text = '';
    const link = await new Promise<string>((resolve, reject) => {
      other.child.stdout?.on('data', (chunk) => {
        text += chunk;
        const [, found] = /console +(http\S+)\n/.exec(text) ?? [];
        if (found !== undefined) resolve(found);
      });
      other.ended.then(({ stderr }) => reject(new Error(stderr)));
    });
    expect(await exchange(link)).toBe(204);
  } finally {
    other.child.kill('SIGTERM');
    await other.ended;
  }
});
