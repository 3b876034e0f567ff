import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from 'vitest';
import { call, type Running, start } from './cli.ts';

/** A system of its own for the tests of one file, with a temporary directory. */
export function systemForTests(more: Readonly<Record<string, string>> = {}) {
  const root = mkdtempSync(join(tmpdir(), 'hp-system-'));
  const env = { HOLDPOINT_DATA: join(root, 'data'), HOLDPOINT_PORT: '0', ...more };
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
