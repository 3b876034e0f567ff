import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const loaded = `
  import { registerHooks } from 'node:module';
  const urls = [];
  registerHooks({ resolve: (...args) => { const found = args[2](args[0], args[1]); urls.push(found.url); return found; } });
  for (const part of JSON.parse(process.env.PARTS)) await import(part);
  process.stdout.write(JSON.stringify(urls));
`;
const urlOf = (path: string): string => new URL(path, import.meta.url).href;

/** A thread has its own copy of each module. The schemas of all packages would take as much memory as everything else in it. */
test('the thread loads neither schemas nor exporters that are not used', async () => {
  const telemetry = '../../../telemetry/src';
  const parts = [
    urlOf('./follow-in-thread.ts'),
    urlOf(`${telemetry}/traces/open-span-sender.ts`),
    urlOf(`${telemetry}/logs/open-log-sender.ts`),
    urlOf(`${telemetry}/metrics/open-metrics-sender.ts`),
    urlOf(`${telemetry}/metrics/count-spans.ts`),
  ];
  const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', loaded], {
    env: { PATH: process.env.PATH, PARTS: JSON.stringify(parts) },
    maxBuffer: 10_000_000,
  });
  const urls = JSON.parse(stdout) as string[];
  expect(urls.filter((url) => url.includes('/ioredis/')).length).toBeGreaterThan(0);
  expect(urls.filter((url) => /\/node_modules\/zod\/|otlp-(grpc|http|proto)\//.test(url))).toEqual([]);
});
