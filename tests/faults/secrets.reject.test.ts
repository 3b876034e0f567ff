import { spawn } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { projectDir } from '../harness/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'hp-no-start-'));
const files = join(folder, 'files');
const keyFile = join(folder, 'key');
beforeAll(() => {
  mkdirSync(files, { mode: 0o700 });
  writeFileSync(join(files, 'TOKEN'), 'value-of-token');
  chmodSync(join(files, 'TOKEN'), 0o644);
  writeFileSync(keyFile, 'no key at all', { mode: 0o600 });
});
afterAll(() => rmSync(folder, { recursive: true }));

test.each(['api', 'worker'])(
  'the %s does not start when it cannot read its secrets, and says what to do',
  async (app) => {
    for (const [env, what] of [
      [{ HOLDPOINT_SECRETS_DIR: files }, `chmod 600 ${join(files, 'TOKEN')}`],
      [{ HOLDPOINT_SECRETS_KEY_FILE: keyFile }, `${keyFile} is not 32 bytes in base64 or hex`],
      [{ HOLDPOINT_SECRETS_KEY_FILE: join(folder, 'none') }, 'does not exist'],
      [{ HOLDPOINT_SECRET_TOKEN: 'short' }, 'HOLDPOINT_SECRET_TOKEN has fewer than 8 bytes'],
    ] as const) {
      const child = spawn(process.execPath, [join(projectDir, 'apps', app, 'src/main.ts')], {
        env: { PATH: process.env.PATH, HOLDPOINT_DATA: join(folder, 'data'), ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      const closed = new Promise<number | null>((resolve) => child.once('close', resolve));
      const said = (await Promise.all([text(child.stdout), text(child.stderr)])).join('');
      expect([await closed, said]).toEqual([1, expect.stringContaining(what)]);
      expect(said).not.toContain('value-of-token');
    }
  },
);
