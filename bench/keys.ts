/**
 * The cost of a key check per request: a real API, asked over HTTP for the caller (`/v1/me`, a check) and for its health (no check), in
 * turns. The key has a rate, so its counters are written. Then the check alone, without HTTP.
 */
import { openCallers } from '@holdpoint/callers';
import { newId } from '@holdpoint/engine';
import { Redis } from 'ioredis';
import { startSystem } from '../tests/harness/index.ts';

const rounds = 3000;
const warmUp = 500;
const most = { key: 0.3 };
const say = (line: string): void => void process.stdout.write(`${line}\n`);
const system = await startSystem({
  HOLDPOINT_LOG: 'silent',
  HOLDPOINT_TENANT_RATE: '100000',
  HOLDPOINT_TENANT_BURST: '1000000',
});
const limits = { requests_per_s: 100_000, burst: 1_000_000 };
const { key } = await system.client.createKey({ name: 'bench', kind: 'service', scopes: ['runs:read'], limits });

const headers = { authorization: `Bearer ${key}` };
async function ask(path: string): Promise<number> {
  const from = performance.now();
  const response = await fetch(`${system.api.url()}${path}`, { headers });
  await response.text();
  if (!response.ok) throw new Error(`${path}: ${response.status}`);
  return performance.now() - from;
}
const times: Record<string, number[]> = { '/v1/me': [], '/healthz': [], check: [] };
for (let round = -warmUp; round < rounds; round++) {
  for (const path of ['/v1/me', '/healthz']) {
    const took = await ask(path);
    if (round >= 0) times[path]?.push(took);
  }
}

const redis = new Redis(system.redis.address);
const unlimited = { requests_per_s: null, burst: null, streams: null };
const callers = await openCallers({
  ...{ redis, newId: () => newId('key'), now: Date.now, firstKey: system.key },
  limits: { key: unlimited, tenant: { requests_per_s: 100_000, burst: 1_000_000 }, activeRuns: undefined },
});
for (let round = -warmUp; round < rounds; round++) {
  const from = performance.now();
  await callers.check(key);
  if (round >= 0) times.check?.push(performance.now() - from);
}
redis.disconnect();

const at = (name: string, q: number): number =>
  (times[name] ?? []).toSorted((a, b) => a - b)[Math.floor(rounds * q)] ?? Number.NaN;
const [me, health, check] = [at('/v1/me', 0.5), at('/healthz', 0.5), at('check', 0.5)];
say(`a request with a check of its key, and one without, ${rounds} times each, in turns`);
say(`  with    p50 ${me.toFixed(3)} ms, p99 ${at('/v1/me', 0.99).toFixed(3)} ms`);
say(
  `  without p50 ${health.toFixed(3)} ms, p99 ${at('/healthz', 0.99).toFixed(3)} ms; ratio ${(me / health).toFixed(2)}`,
);
say(`  the check costs ${(me - health).toFixed(3)} ms of a request`);
say(
  `the check alone, with the rates of its key and tenant: p50 ${check.toFixed(3)} ms, p99 ${at('check', 0.99).toFixed(3)} ms`,
);
say(`  target at most ${most.key} ms p50: ${check <= most.key ? 'met' : 'MISSED'}`);
await system[Symbol.asyncDispose]();
process.exit(0);
