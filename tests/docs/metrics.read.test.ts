import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Metric, metric, prometheusLabel, prometheusName } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { projectDir } from '../harness/index.ts';

const page = readFileSync(join(projectDir, 'docs/metrics.md'), 'utf8');
const metrics: readonly Metric[] = Object.values(metric);

const rowOf = (one: Metric): string => {
  const labels = one.labels.map((label) => `\`${prometheusLabel(label)}\``).join(', ');
  return `| \`${prometheusName(one)}\` | ${one.kind} | ${labels} | ${one.description} |`;
};
const rowsOf = (source: Metric['source']): string =>
  metrics
    .filter((one) => one.source === source)
    .map(rowOf)
    .join('\n');

test.each(['runs', 'worker', 'api', 'process', 'system'] as const)('the page has every metric of %s', (source) =>
  expect(page).toContain(`${rowsOf(source)}\n`),
);

test('the page has no metric that does not exist', () => {
  const names = [...page.matchAll(/^\| `(\w+)` \| (?:counter|gauge|histogram) /gm)].map(([, name]) => name);
  expect(names.toSorted()).toEqual(metrics.map(prometheusName).toSorted());
});

test('names follow the conventions, and labels are no ids', () => {
  for (const one of metrics) {
    const name = prometheusName(one);
    expect(name).toMatch(/^[a-z][a-z0-9_]*$/);
    expect(name.endsWith('_total')).toBe(one.kind === 'counter');
    if (one.unit === 's') expect(name).toMatch(/_seconds(_total)?$/);
    if (one.unit === 'By') expect(name).toMatch(/_bytes(_total)?$/);
    for (const label of one.labels) expect(label).not.toMatch(/(^|[._])(id|tenant)$/);
    expect(one.kind === 'histogram').toBe(one.buckets !== undefined);
  }
});
