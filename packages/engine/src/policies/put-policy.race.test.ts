import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { policyDigest } from '@holdpoint/policy';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { putPolicy } from './put-policy.ts';
import { getPolicy, latestVersion, listVersions } from './read-policies.ts';

const engine = useTestEngine({ fresh: true });
const program = fileURLToPath(new URL('../testing/put-policies.ts', import.meta.url));
const named = { tenant: 'default', name: 'shared' };

/** @param killAfter acknowledged versions after which the process is killed. @returns what it acknowledged */
async function put(word: string, killAfter: number): Promise<{ version: number; digest: string }[]> {
  const child = spawn(process.execPath, [program, engine.address, named.name, word, '12'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'close');
  const acknowledged: { version: number; digest: string }[] = [];
  for await (const line of createInterface({ input: child.stdout })) {
    const [version, digest = ''] = line.split(' ');
    acknowledged.push({ version: Number(version), digest });
    if (acknowledged.length === killAfter) child.kill('SIGKILL');
  }
  await ended;
  return acknowledged;
}

test('processes that put at once and are killed lose no acknowledged version, and readers see whole documents', async () => {
  const kills = fc.tuple(fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 }));
  await fc.assert(
    fc.asyncProperty(kills, async (killAfter) => {
      await engine.deps.redis.flushall();
      const state = { isDone: false };
      const reader = (async () => {
        let last = 0;
        while (!state.isDone) {
          const version = await latestVersion(engine.deps, named);
          expect(version).toBeGreaterThanOrEqual(last);
          last = version;
          if (version === 0) continue;
          const policy = await getPolicy(engine.deps, { ...named, version });
          expect(policyDigest(policy.document)).toBe(policy.digest);
        }
      })();
      const acknowledged = (await Promise.all(killAfter.map((kill, index) => put(`w${index}`, kill)))).flat();
      state.isDone = true;
      await reader;
      const { items } = await listVersions(engine.deps, { ...named, limit: 200 });
      expect(items.map(({ version }) => version)).toEqual(items.map((_, index) => items.length - index));
      expect(new Set(acknowledged.map(({ version }) => version)).size).toBe(acknowledged.length);
      for (const { version, digest } of acknowledged) {
        expect(items.find((item) => item.version === version)?.digest).toBe(digest);
      }
      // A process that was killed may have put one more than it could acknowledge.
      expect(items.length).toBeGreaterThanOrEqual(acknowledged.length);
      expect(items.length).toBeLessThanOrEqual(acknowledged.length + killAfter.length);
    }),
    { numRuns: 4 },
  );
}, 120_000);

test('of those that saw one version, one changes it', async () => {
  const document = (reason: string) => ({
    rules: [{ match: {}, action: 'hold' as const, reason }],
    publish: 'allow' as const,
  });
  const base = { ...named, by: 'ann' };
  await putPolicy(engine.deps, { ...base, document: document('first') });
  const puts = Array.from({ length: 20 }, (_, index) =>
    putPolicy(engine.deps, { ...base, ifVersion: 1, document: document(`next ${index}`) }),
  );
  const outcomes = await Promise.allSettled(puts);
  expect(outcomes.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  for (const one of outcomes) if (one.status === 'rejected') expect(one.reason.code).toBe('policy_changed');
  expect(await latestVersion(engine.deps, named)).toBe(2);
});
