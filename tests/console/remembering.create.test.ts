import type { Approval } from '@holdpoint/client';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { finished, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();

const write = (path: string) => ({ tool: 'write_file', args: { path, content: 'text' } });
const holdsWrites = { rules: [{ match: { tool: 'write_file' }, action: 'hold' as const }] };
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');

async function pending(runId: string): Promise<Approval> {
  const listed = async () => (await it.client.listApprovals({ run_id: runId })).data[0];
  await expect.poll(listed, { timeout: 30_000 }).toBeDefined();
  const approval = await listed();
  if (approval === undefined) throw new Error('no approval');
  return approval;
}

withBrowser('deciding once for many', () => {
  test('a rejection is remembered: the same call of another run is rejected, and a person sees by which rule', async () => {
    const start = async (title: string) =>
      (await it.client.createRun({ title, plan: plan([write('never.txt')]), policy: holdsWrites })).run;
    const { id } = await pending((await start('The first try')).id);
    const page = await it.open(`/approvals/${id}`);
    await button(page, 'Reject').click();
    await dialog(page).getByLabel('Why?').fill('never this file');
    await dialog(page).getByLabel('Remember it in all runs of the tenant').check();
    await dialog(page).getByText('without a question, and the planner reads not to try it again').waitFor();
    await checkAccess(page);
    await dialog(page)
      .getByRole('button', { name: /^Reject/ })
      .click();
    await dialog(page).getByText('It is remembered').waitFor();
    await button(page, 'Close').click();
    const again = await start('The second try');
    await finished(it.client, again.id);
    const [step] = (await it.client.listSteps(again.id)).data;
    expect(step?.status).toBe('rejected');
    await page.goto(`${it.url}/rules`);
    await page.getByText('never this file').waitFor();
    await checkAccess(page);
    const [rule] = (await it.client.listRules()).data;
    await it.client.revokeRule(rule?.id ?? '');
  });

  test('a pattern is shown with its replay, and exactly that is put into the policy', async () => {
    await it.client.putPolicy('team', holdsWrites);
    const ids: string[] = [];
    for (const name of ['a', 'b', 'c']) {
      const { run } = await it.client.createRun({
        ...{ title: `Note ${name}`, plan: plan([write(`notes/${name}.md`)]), policy: { name: 'team' } },
      });
      const { id, action_digest } = await pending(run.id);
      await it.client.decideApproval(id, { decision: 'approve', action_digest });
      await finished(it.client, run.id);
      ids.push(id);
    }
    const page = await it.open(`/approvals/${ids[2]}`, { expected: [/status of 409/] });
    await button(page, 'Look for a pattern').click();
    const shown = page.getByRole('region', { name: 'The pattern', exact: true });
    await shown.getByText('3 newly allowed').waitFor();
    await shown.getByText('notes/*').waitFor();
    await checkAccess(page);
    await button(page, 'Put the rules into a policy').click();
    // The policy changes while the dialog is open: what is shown is refused, and both stand there.
    await it.client.putPolicy('team', { rules: [...holdsWrites.rules, { match: { tool: 'bash' }, action: 'hold' }] });
    await dialog(page).getByRole('button', { name: 'Put them in' }).click();
    await page.getByText('The pattern has changed').waitFor();
    await page.getByRole('region', { name: 'Shown before' }).getByText('version 1').waitFor();
    await page.getByRole('region', { name: 'The pattern now' }).getByText('version 2').waitFor();
    await button(page, 'Put the rules into a policy').click();
    await checkAccess(page);
    await dialog(page).getByRole('button', { name: 'Put them in' }).click();
    await page.getByText('has version 3 now').waitFor();
    const { document } = await it.client.getPolicy('team');
    expect(document.rules).toHaveLength(3);
    const { run } = await it.client.createRun({ plan: plan([write('notes/d.md')]), policy: { name: 'team' } });
    await finished(it.client, run.id);
    expect((await it.client.listSteps(run.id)).data[0]?.status).toBe('succeeded');
  });
});
