import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { auditReportSchema } from '@holdpoint/contract/wire';
import { expect, it } from 'vitest';
import { systemForTests } from '../testing/system.ts';

const { root, holdpoint, env } = systemForTests();
const plan = join(root, 'plan.yaml');
writeFileSync(plan, 'groups: [{ steps: [{ tool: write_file, args: { path: a.txt, content: one } }] }]\n');

async function verify(...args: string[]) {
  const { code, stdout } = await holdpoint('audit', 'verify', '--json', ...args);
  return { code, report: auditReportSchema.parse(JSON.parse(stdout)) };
}

it('verifies, exports and prints the head, and exits 1 for what was changed', { timeout: 120_000 }, async () => {
  const submitted = await holdpoint('run', '--plan', plan, '--json', '--detach');
  const { id } = JSON.parse(submitted.stdout);
  await holdpoint('watch', id);
  await expect
    .poll(async () => (await verify()).report.events, { timeout: 60_000 })
    .toEqual({ sealed: expect.any(Number), unsealed: 0 });
  const { code, report } = await verify();
  expect({ code, ok: report.ok, runs: report.runs }).toEqual({ code: 0, ok: true, runs: 1 });

  const { stdout: head } = await holdpoint('audit', 'head');
  expect(head).toMatch(/^\d+:[0-9a-f]{64}\n$/);
  expect((await holdpoint('audit', 'verify', '--head', head.trim())).stdout).toContain(
    'Everything is as it was sealed.',
  );
  expect(await holdpoint('audit', 'verify', '--head', 'x')).toMatchObject({ code: 2 });

  const exported = (await holdpoint('audit', 'export', '--run', id, '--since', '1d')).stdout.trimEnd().split('\n');
  expect(exported.map((line) => JSON.parse(line).run_id)).toEqual(exported.map(() => id));
  expect(exported).toHaveLength(report.records);
  const directory = join(env.HOLDPOINT_DATA ?? '', 'audit');
  const file = join(directory, readdirSync(directory)[0] ?? '');
  writeFileSync(file, readFileSync(file, 'utf8').replace('write_file', 'read_file!'));
  const changed = await holdpoint('audit', 'verify');
  expect(changed.code).toBe(1);
  expect(changed.stdout).toMatch(/record_changed {2}record \d+ is not what was sealed \(0+1\.jsonl, line \d+\)/);
});
