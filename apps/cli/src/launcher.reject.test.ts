import { execFile } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
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

function checkoutAt(name: string): string {
  const checkout = join(root, name);
  for (const file of ['apps/cli/bin/holdpoint', 'scripts/setup', 'package.json']) {
    cpSync(join(projectDir, file), join(checkout, file), { recursive: true });
  }
  mkdirSync(join(checkout, 'apps/cli/src'), { recursive: true });
  return checkout;
}
const launcherOf = (checkout: string): string => join(checkout, 'apps/cli/bin/holdpoint');

it("starts with the machine's own Node where that is new enough, and the set-up has brought none", async () => {
  const checkout = checkoutAt('own Node');
  mkdirSync(join(checkout, 'node_modules/commander'), { recursive: true });
  writeFileSync(join(checkout, 'apps/cli/src/main.ts'), "console.log('it runs', process.argv.slice(2).join());");
  const path = `${dirname(process.execPath)}:/usr/bin:/bin`;
  const { stdout } = await call('/bin/sh', [launcherOf(checkout), 'runs', 'list'], path);
  expect(stdout).toBe('it runs runs,list\n');
});

it.each([
  ['without dependencies', process.env.PATH],
  ['without a Node', '/nonexistent'],
])('a checkout %s says how to set it up', async (name, path) => {
  const checkout = checkoutAt(name);
  await expect(call('/bin/sh', [launcherOf(checkout), '--help'], path)).rejects.toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`npm --prefix ${checkout} run setup`),
  });
});
