import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { projectDir } from '../harness/index.ts';
import { alertCases } from './alert-cases.ts';
import { promtool } from './prometheus.ts';
import { readRules, rulesFile } from './read-rules.ts';

const rules = readRules();
let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'hp-alerts-'));
  copyFileSync(rulesFile, join(directory, 'alerts.yaml'));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

test('promtool accepts the configuration and the rules', async () => {
  const [key, config] = ['holdpoint-key', 'prometheus.yaml'].map((name) => join(directory, name)) as [string, string];
  const text = readFileSync(join(projectDir, 'infra/prometheus/prometheus.yaml'), 'utf8');
  writeFileSync(key, 'a key');
  writeFileSync(config, text.replace('/run/secrets/holdpoint-key', key));
  expect(await promtool('check', 'config', config)).toMatchObject({ ok: true });
  expect(await promtool('check', 'rules', rulesFile)).toMatchObject({ ok: true });
});

test('every alert has a case', () =>
  expect([...new Set(alertCases.map(({ alert }) => alert))].sort()).toEqual(rules.map(({ alert }) => alert).sort()));

test.each(alertCases)('$alert fires on a planted fault, and not without it: $says', async (planted) => {
  const { alert, fault, healthy, at = '20m', labels = {}, says } = planted;
  const rule = rules.find((one) => one.alert === alert);
  const fires = {
    exp_labels: { ...rule?.labels, ...labels },
    exp_annotations: { summary: says, runbook_url: rule?.annotations.runbook_url },
  };
  const tests = [
    { series: fault, expected: [fires] },
    { series: healthy, expected: [] },
  ].map(({ series, expected }) => ({
    interval: '1m',
    input_series: Object.entries(series).map(([name, values]) => ({ series: name, values })),
    alert_rule_test: [{ eval_time: at, alertname: alert, exp_alerts: expected }],
  }));
  const file = join(directory, `${alert}.yaml`);
  writeFileSync(file, stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests }));
  expect(await promtool('test', 'rules', file)).toMatchObject({ ok: true });
});
