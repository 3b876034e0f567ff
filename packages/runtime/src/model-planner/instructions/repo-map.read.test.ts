import type { Json } from '@holdpoint/contract';
import { tokensOf } from '@holdpoint/models';
import { test } from '@holdpoint/workspace/testing/fixture';
import { expect } from 'vitest';
import { instructing, promptGoal } from '../../testing/instructing.ts';
import { specOfPrompt } from '../../testing/planned-run.ts';
import type { MapSources } from './repo-map.ts';

const files = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`src/f${n}.ts`, '']));
const mapOf = (system: string): string =>
  /<repository-map id="([0-9a-f]{12})">\n([\s\S]*?)\n<\/repository-map \1>/.exec(system)?.[2] ?? '';

type Query = Parameters<NonNullable<MapSources['graphs']>['query']>[0];

/** A graph with given answers, and the questions to it. */
function graph(answer: () => Promise<Record<string, Json>[]>) {
  const asked: Query[] = [];
  const query = async (one: Query) => {
    asked.push(one);
    return { results: await answer() };
  };
  return { asked, graphs: { query } };
}

const row = (path: string, line: number, name: string, container = ''): Record<string, Json> => ({
  ...{ path, line, name, container, kind: container === '' ? 'function' : 'method' },
});

test('symbols are listed by file in the order of their ranks, within a budget', async ({ t }) => {
  const { id } = await t.begin(t.source(files));
  const few = graph(async () => [
    row('src/f1.ts', 9, 'area'),
    row('src/f0.ts', 1, 'x'),
    row('src/f1.ts', 2, 'of', 'Shape'),
  ]);
  const { system, environment } = await instructing(t, id, specOfPrompt('Go.'), {}, few);
  expect(mapOf(system)).toBe('src/f1.ts: Shape.of (method, 2), area (function, 9)\nsrc/f0.ts: x (function, 1)');
  expect(environment.repo_map).toEqual({ symbols: 3 });
  expect(few.asked[0]).toMatchObject({ query: 'map', snapshot: id, tenant: 'default', timeout_ms: 5000 });
  const many = graph(async () => Array.from({ length: 400 }, (_, n) => row(`src/${n}.ts`, n, `symbol${n}\n# Git`)));
  const cut = mapOf((await instructing(t, id, specOfPrompt('Go.'), {}, many)).system);
  expect(tokensOf(cut)).toBeGreaterThan(500);
  expect(tokensOf(cut)).toBeLessThan(1200);
  expect(cut).not.toContain('\n# Git');
});

test('a graph that is late or fails gives no map, and some runs do not ask', async ({ t }) => {
  const { id } = await t.begin(t.source(files));
  const late = graph(async () => Promise.reject(Object.assign(new Error('late'), { code: 'ETIMEOUT' })));
  const { system, environment } = await instructing(t, id, specOfPrompt('Go.'), {}, late);
  expect(system).not.toContain('<repository-map');
  expect(environment.repo_map).toEqual({ absent: 'ETIMEOUT' });
  const quiet = graph(async () => []);
  const modes = { read_only: false, dry_run: false, deterministic: true };
  await instructing(t, id, specOfPrompt('Go.', { modes }), {}, quiet);
  await instructing(t, id, specOfPrompt('Go.', { permissions: ['fs:read:src/**'] }), {}, quiet);
  await instructing(t, id, specOfPrompt('Go.', { goal: promptGoal({ context: { repo_map: false } }) }), {}, quiet);
  const { id: small } = await t.begin({ type: 'empty' }, 'run_2');
  await instructing(t, small, specOfPrompt('Go.'), { runId: 'run_2' }, quiet);
  expect(quiet.asked).toEqual([]);
});
