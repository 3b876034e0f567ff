import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { call, type Running, start } from './cli.ts';

/** Shorter than a user's: a worker waits so long at its end for steps that a test left running. */
const drain = { HOLDPOINT_DRAIN_MS: '500' };

/** A system of its own for the tests of one file, with a temporary directory. */
export function systemForTests(more: Readonly<Record<string, string>> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'hp-system-'));
  const env = { HOLDPOINT_DATA: join(root, 'data'), HOLDPOINT_PORT: '0', ...drain, ...more };
  let system: Running;
  beforeAll(async () => {
    system = start(['up', '--json'], env);
    await system.firstLine;
  });
  afterAll(async () => {
    system.child.kill('SIGTERM');
    await system.ended;
    rmSync(root, { recursive: true, force: true });
  });
  return { root, env, holdpoint: (...args: string[]) => call(args, env) };
}
