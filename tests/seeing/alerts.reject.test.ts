import { copyFileSync, cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
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
  const copy = join(directory, 'prometheus');
  cpSync(join(projectDir, 'infra/prometheus'), copy, { recursive: true });
  writeFileSync(join(copy, 'holdpoint-key'), 'a key');
  expect(await promtool('check', 'config', join(copy, 'prometheus.yaml'))).toMatchObject({ ok: true });
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
  expect(await evaluate([at, alert, fault, [fires]])).toEqual('');
  expect(await evaluate([at, alert, healthy, []])).toEqual('');
});

/** @returns what promtool complains about */
async function evaluate([at, alert, series, alerts]: [
  string,
  string,
  Record<string, string>,
  object[],
]): Promise<string> {
  const file = join(directory, 'case.yaml');
  const input = Object.entries(series).map(([name, values]) => ({ series: name, values }));
  const rule = { eval_time: at, alertname: alert, exp_alerts: alerts };
  const tests = [{ interval: '1m', input_series: input, alert_rule_test: [rule] }];
  writeFileSync(file, stringify({ rule_files: ['alerts.yaml'], evaluation_interval: '1m', tests }));
  const { ok, output } = await promtool('test', 'rules', file);
  return ok ? '' : output;
}
