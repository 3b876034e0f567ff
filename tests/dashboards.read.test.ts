import { readdirSync, readFileSync } from 'node:fs';
import { attribute, genAi, general, type Metric, metric, prometheusLabel, prometheusName } from '@holdpoint/contract';
import { expect, test } from 'vitest';
import { parse } from 'yaml';

const infra = new URL('../infra/', import.meta.url);
const read = (path: string): string => readFileSync(new URL(path, infra), 'utf8');

interface Target {
  expr?: string;
  query?: string;
  datasource: { type: string };
}

const dashboards = readdirSync(new URL('grafana/dashboards/', infra)).map((file) => {
  const page = JSON.parse(read(`grafana/dashboards/${file}`)) as {
    uid: string;
    panels: { id: number; type: string; title: string; targets?: Target[] }[];
  };
  return { ...page, text: JSON.stringify(page), targets: page.panels.flatMap(({ targets = [] }) => targets) };
});
const { groups } = parse(read('prometheus/alerts.yaml')) as {
  groups: { rules: { alert: string; expr: string; annotations: { runbook_url: string } }[] }[];
};
const rules = groups.flatMap((group) => group.rules);

/** Each name that Prometheus has, and its labels. Prometheus itself adds `job`, `instance` and `le`. */
const known = new Map(
  Object.values<Metric>(metric).flatMap((one) => {
    const name = prometheusName(one);
    const labels = new Set(one.labels.map(prometheusLabel));
    if (one.kind !== 'histogram') return [[name, labels] as const];
    return ['bucket', 'sum', 'count'].map((part) => [`${name}_${part}`, labels] as const);
  }),
);
const everywhere = ['job', 'instance', 'le'];

const promql = [
  ...rules.map(({ expr }) => expr),
  ...dashboards.flatMap(({ targets }) =>
    targets.filter(({ datasource }) => datasource.type === 'prometheus').map(({ expr = '' }) => expr),
  ),
];

test.each([...new Set(promql)])('has only known metrics and labels: %s', (query) => {
  const selectors = [...query.matchAll(/\b((?:holdpoint|gen_ai|http_server|process)_\w+)\b(?!\s*=)(?:\{([^}]*)\})?/g)];
  const names = selectors.map(([, name = '']) => name).filter((name) => !isLabel(name));
  expect(names.filter((name) => !known.has(name))).toEqual([]);
  for (const [, name = '', matchers = ''] of selectors) {
    const used = [...matchers.matchAll(/(\w+)\s*(?:=~|!~|!=|=)"/g)].map(([, label = '']) => label);
    expect(used.filter((label) => !known.get(name)?.has(label) && !everywhere.includes(label))).toEqual([]);
  }
  const grouped = [...query.matchAll(/\bby\s*\(([^)]*)\)/g)].flatMap(([, list = '']) =>
    list.split(',').map((label) => label.trim()),
  );
  const having = new Set(names.flatMap((name) => [...(known.get(name) ?? [])]));
  expect(grouped.filter((label) => !having.has(label) && !everywhere.includes(label))).toEqual([]);
});

/** `gen_ai_request_model` is a label, and looks like a metric. */
const isLabel = (name: string): boolean => [...known.values()].some((labels) => labels.has(name));

test('queries of traces name known attributes', () => {
  const attributes = new Set<unknown>([
    ...Object.values(attribute),
    ...Object.values(genAi),
    ...Object.values(general),
  ]);
  const named = dashboards.flatMap(({ targets }) =>
    targets.flatMap(({ query = '' }) => [...query.matchAll(/\bspan\.([\w.]+)/g)].map(([, name]) => name)),
  );
  expect(named.length).toBeGreaterThan(0);
  expect(named.filter((name) => !attributes.has(name))).toEqual([]);
});

test('every link between dashboards leads to one', () => {
  const uids = dashboards.map(({ uid }) => uid);
  const links = dashboards.flatMap(({ text }) => [...text.matchAll(/"url":"\/d\/([\w-]+)/g)].map(([, uid]) => uid));
  expect(links.length).toBeGreaterThan(0);
  expect(links.filter((uid) => !uids.includes(uid ?? ''))).toEqual([]);
});

test('every alert has a section of its own in docs/alerts.md', () => {
  const sections = [...read('../docs/alerts.md').matchAll(/^## (\w+)$/gm)].map(([, name]) => name);
  expect(sections.sort()).toEqual(rules.map(({ alert }) => alert).sort());
  for (const { alert, annotations } of rules)
    expect(annotations.runbook_url).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
});

test('every section says what the alert means, where to look and what to do', () => {
  const [, ...sections] = read('../docs/alerts.md').split(/^## /m);
  for (const section of sections)
    expect(section).toMatch(/^\w+\n\n\*\*Means\.\*\* .*\n\n\*\*Look\.\*\* .*\n\n\*\*Do\.\*\* /s);
});
