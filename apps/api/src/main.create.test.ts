import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { createClient } from '@holdpoint/client';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { readConfig } from './config.ts';
import { startTestApi, type TestApi } from './testing/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
});
afterAll(() => api.stop());

const bundles = process.env.HOLDPOINT_TEST_PROGRAMS;
/** `npm test` makes bundles of the programs, which start with less CPU time. */
const main = bundles === undefined ? fileURLToPath(new URL('./main.ts', import.meta.url)) : join(bundles, 'api/api.js');

function start(
  env: Record<string, string>,
): ChildProcess & { stdout: NodeJS.ReadableStream; stderr: NodeJS.ReadableStream } {
  const { NODE_COMPILE_CACHE } = process.env;
  return spawn(process.execPath, [main], {
    env: { ...env, NODE_COMPILE_CACHE },
    stdio: ['ignore', 'pipe', 'pipe'],
  }) as never;
}

describe('the process', () => {
  test('prints its address, serves, and shuts down with a stream open', async () => {
    const child = start({ HOLDPOINT_DATA: api.dataDir, HOLDPOINT_PORT: '0', REDIS_URL: api.redis.path });
    const errors: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
    const output: string[] = [];
    const lines = createInterface({ input: child.stdout }).on('line', (line) => output.push(line));
    const ended = once(child, 'exit');
    const ready = await Promise.race([
      once(lines, 'line'),
      ended.then(() => Promise.reject(new Error(errors.join('\n')))),
    ]);
    const said = JSON.parse(String(ready[0])) as { event: string; address: string };
    expect(said).toEqual({ event: 'listening', address: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/) });

    const key = (await readFile(join(api.dataDir, 'api-key'), 'utf8')).trim();
    const client = createClient({ baseUrl: said.address, key });
    const plan = { groups: [{ steps: [{ tool: 'bash', args: { command: 'true' } }] }] };
    const { run } = await client.createRun({ plan });
    const response = await fetch(`${said.address}/v1/runs/${run.id}/events`, {
      headers: { authorization: `Bearer ${key}`, accept: 'text/event-stream' },
    });
    const rest = response.text();
    child.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
    expect(await rest).toContain('event: run.created');
    await client.close();
    expect(output).toHaveLength(1);
    for (const line of errors) expect(JSON.parse(line)).toMatchObject({ name: 'api', level: 30 });
    expect(errors.join('')).not.toContain(key);
  });

  test.each([
    [{ HOLDPOINT_DATA: '/nonexistent/data' }, 'the embedded Redis of /nonexistent/data does not run'],
    [{ REDIS_URL: 'localhost:6379' }, 'REDIS_URL: expected'],
    [{ REDIS_URL: '/x', HOLDPOINT_PORT: 'http' }, 'HOLDPOINT_PORT'],
    [{ REDIS_URL: '/x', HOLDPOINT_LOG: 'loud' }, 'HOLDPOINT_LOG'],
    [{ REDIS_URL: '/x', HOLDPOINT_KEY_RATE: '0' }, 'HOLDPOINT_KEY_RATE'],
    [{ REDIS_URL: '/x', OPENAI_BASE_URL: 'nowhere' }, 'OPENAI_BASE_URL'],
  ])('with %o does not start and says what is wrong', async (env, message) => {
    const child = start(env);
    const errors: string[] = [];
    createInterface({ input: child.stderr }).on('line', (line) => errors.push(line));
    expect(await once(child, 'close')).toEqual([1, null]);
    expect(errors.join('\n')).toContain(message);
    expect(existsSync('/nonexistent')).toBe(false);
  });
});

describe('the configuration', () => {
  test('has defaults; without REDIS_URL the embedded Redis of the data directory is meant', () => {
    expect(readConfig({}).redisUrl).toBeUndefined();
    expect(readConfig({ REDIS_URL: 'redis://redis:6379', HOLDPOINT_PORT: '' })).toMatchObject({
      dataDir: expect.stringMatching(/^\/.*\.holdpoint$/),
      host: '127.0.0.1',
      port: 4747,
      redisUrl: 'redis://redis:6379',
      logLevel: 'info',
    });
  });
});
