import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { readConfig } from '../shell/index.ts';
import { startSystem } from './start-system.ts';

it('keeps Redis and the API when a worker is late, and reports when it is ready', async () => {
  const root = mkdtempSync(join(tmpdir(), 'hp-late-'));
  const said: string[] = [];
  const env = {
    PATH: process.env.PATH,
    HOLDPOINT_DATA: join(root, 'data'),
    HOLDPOINT_PORT: '0',
    HOLDPOINT_DRAIN_MS: '500',
  };
  const none = new AbortController().signal;
  const system = await startSystem({
    ...{ config: readConfig(env, root), workers: 1, workerReadyMs: 1, signal: none, hurry: none },
    onChildren: () => undefined,
    report: (text) => said.push(text),
  });
  try {
    expect(said.join('\n')).toContain('worker-1 was not ready within 0.001 s. The API takes requests');
    const ready = () => fetch(`${system.address}/readyz`).then((response) => response.json());
    await expect.poll(() => said.some((text) => /^worker-1 +ready/.test(text)), { timeout: 60_000 }).toBe(true);
    expect(await ready()).toMatchObject({ workers: 1 });
  } finally {
    await system.stop();
    rmSync(root, { recursive: true });
  }
});
