import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, expect, it } from 'vitest';

const projectDir = fileURLToPath(new URL('../../..', import.meta.url));
const root = mkdtempSync(join(tmpdir(), 'hp-launcher-'));
afterAll(() => rmSync(root, { recursive: true, force: true }));

const call = (command: string, args: string[], path = process.env.PATH) =>
  promisify(execFile)(command, args, { cwd: root, env: { PATH: path } });

it('starts the command through a link, from any directory', async () => {
  symlinkSync(join(projectDir, 'node_modules/.bin/holdpoint'), join(root, 'holdpoint'));
  const { stdout } = await call(join(root, 'holdpoint'), ['completion', 'bash']);
  expect(stdout).toContain('complete -F _holdpoint holdpoint');
});

it.each([
  ['without dependencies', process.env.PATH],
  ['without a Node', '/nonexistent'],
])('a checkout %s says how to set it up', async (name, path) => {
  const checkout = join(root, name);
  for (const file of ['apps/cli/bin/holdpoint', 'scripts/setup']) {
    cpSync(join(projectDir, file), join(checkout, file), { recursive: true });
  }
  mkdirSync(join(checkout, 'apps/cli/src'), { recursive: true });
  await expect(call('/bin/sh', [join(checkout, 'apps/cli/bin/holdpoint'), '--help'], path)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`npm --prefix ${checkout} run setup`),
  });
});
