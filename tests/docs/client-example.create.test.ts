import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { projectDir, type System, startSystem } from '../harness/index.ts';

let system: System;
beforeAll(async () => {
  system = await startSystem();
  await system.startWorker();
});
afterAll(() => system[Symbol.asyncDispose]());

it('examples/client.ts submits a run, approves its call and prints the patch', async () => {
  const env = { PATH: process.env.PATH, HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: system.key };
  const { stdout } = await promisify(execFile)(process.execPath, [join(projectDir, 'examples/client.ts')], { env });
  expect(stdout).toMatch(/^diff --git a\/hello\.txt b\/hello\.txt\n.*\n\+hello\n$/s);
});

// covers S4-90
it('examples/tools/chronicle.ts compares what tools did with the audit log', async () => {
  const env = { PATH: process.env.PATH, HOLDPOINT_URL: system.api.url(), HOLDPOINT_KEY: system.key };
  const example = join(projectDir, 'examples/tools/chronicle.ts');
  expect((await promisify(execFile)(process.execPath, [example], { env })).stdout).toBe('recorded 2 calls\n');
});
