import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { finished, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { expectInert, markup } from './expect-inert.ts';
import { tabTo } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();

const bash = (command: string) => ({ tool: 'bash', args: { command } });
const text = (page: Page) => page.getByLabel('Policy as YAML or JSON');
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const held = { rules: [{ match: { tool: 'bash' }, action: 'hold' as const }] };

/** Runs a held call to its end. */
async function approved(title: string, command: string, remember?: 'run' | 'policy'): Promise<string> {
  const { run } = await it.client.createRun({ title, plan: plan([bash(command)]), policy: held });
  await expect.poll(async () => (await it.client.listApprovals({ run_id: run.id })).data.length).toBe(1);
  const [approval] = (await it.client.listApprovals({ run_id: run.id })).data;
  const { id = '', action_digest = '' } = approval ?? {};
  await it.client.decideApproval(id, { decision: 'approve', action_digest, remember });
  await finished(it.client, run.id);
  return run.id;
}

withBrowser('the pages of policies', () => {
  test('a text with mistakes gets them by line, and the corrected one becomes a version', async () => {
    const page = await it.open('/policies');
    await page.getByText('No policy has a name yet').waitFor();
    await checkAccess(page);
    await button(page, 'New policy').click();
    await page.getByLabel('Name').fill('careful');
    await text(page).fill('rules:\n  - match: { tool: bsh }\n    action: hold\n');
    await button(page, 'Check').click();
    await page.getByText('Nearest: bash').waitFor();
    await checkAccess(page);
    await page.getByRole('button', { name: 'Line 2, column 14' }).click();
    expect(await text(page).evaluate((area) => (area as unknown as { selectionStart: number }).selectionStart)).toBe(
      20,
    );
    await button(page, 'Save as version 1').click();
    await page.getByText('One mistake').waitFor();
    expect(await it.client.listPolicies()).toEqual([]);
    await text(page).fill('rules:\n  - match: { tool: bash }\n    action: hold\n');
    await button(page, 'Save as version 1').click();
    await page.getByText('Version 1, by ann').waitFor();
    expect((await it.client.getPolicy('careful')).document.rules).toEqual(held.rules);
    await page.getByLabel('Arguments as JSON').fill('{"command": "ls"}');
    await button(page, 'Judge it').click();
    await page.getByText('rule 1', { exact: false }).first().waitFor();
    await page.getByText('decides', { exact: false }).first().waitFor();
    await checkAccess(page);
  });

  test('a policy that another person changed in between is not overwritten, and its versions stay readable', async () => {
    await it.client.putPolicy('shared', held);
    // 404: a question about the policy may be on its way when the policy is deleted.
    const page = await it.open('/policies/shared', { expected: [/status of 409/, /status of 404/] });
    await text(page).fill('rules: []\n');
    await it.client.putPolicy('shared', { rules: [{ match: { tool: 'bash' }, action: 'deny' }] });
    await button(page, 'Save as version 2').click();
    await page.getByRole('alert').getByText('version 2').first().waitFor();
    expect((await it.client.getPolicy('shared')).document.rules[0]?.action).toBe('deny');
    expect(await text(page).inputValue()).toBe('rules: []\n');
    await page.reload();
    await page.getByText('Version 2, by ann').waitFor();
    await page.getByLabel('Version', { exact: true }).selectOption('1');
    await page.getByText('not the newest').waitFor();
    expect(await text(page).inputValue()).toContain('"hold"');
    await button(page, 'Delete').click();
    await button(page, 'Back').click();
    await page.goto('/policies/shared');
    await page.getByText('Version 2, by ann').waitFor();
    await button(page, 'Delete').click();
    await button(page, 'Delete it').click();
    await page.waitForURL('**/policies');
    expect((await it.client.listPolicies()).map(({ name }) => name)).not.toContain('shared');
  });

  test('past calls are judged again, and rules are proposed from them', async () => {
    for (const title of ['One', 'Two', 'Three']) await approved(title, 'git status');
    await approved('Hostile', `echo "${markup('call').replaceAll("'", '')} a\u202Eb"`);
    const page = await it.open('/replay');
    await text(page).fill('rules:\n  - match: { tool: bash }\n    action: deny\n');
    await button(page, 'Judge them again').click();
    await page.getByText('4 newly denied').waitFor();
    await page.getByLabel('Calls with another verdict').getByText('git status').first().waitFor();
    await page.getByText('onerror=alert(call)').first().waitFor();
    await page.getByText('a<U+202E>b').first().waitFor();
    await expectInert(page);
    await checkAccess(page);
    await page.getByRole('link', { name: 'Proposals' }).click();
    await button(page, 'Propose rules').click();
    await page.getByText('1 proposal').waitFor();
    await expectInert(page);
    await checkAccess(page);
    await button(page, 'Put it into a new policy').click();
    await page.getByRole('heading', { name: 'Policies / new' }).waitFor();
    expect(await text(page).inputValue()).toContain('"allow"');
  });

  test('a remembered rule is revoked, and the next call waits again', async () => {
    const command = `echo '${markup('remembered').replaceAll("'", '')}'`;
    await approved('Remember it', command, 'policy');
    const page = await it.open('/rules');
    const rules = page.getByLabel('Remembered rules');
    await rules.getByText('onerror=alert(remembered)').waitFor();
    await expectInert(page);
    await checkAccess(page);
    await button(page, 'Revoke').click();
    await button(page, 'Revoke it').click();
    await page.getByText('No decision is remembered').waitFor();
    const { run } = await it.client.createRun({ title: 'Again', plan: plan([bash(command)]), policy: held });
    await expect.poll(async () => (await it.client.listApprovals({ run_id: run.id })).data.length).toBe(1);
  });

  test('hostile names and reasons stay text, and the keyboard alone saves a policy', async () => {
    const name = markup('rule').slice(0, 100);
    const rules = [{ name, match: { tool: 'bash' }, action: 'deny' as const, reason: `${markup('reason')} a\u202Eb` }];
    await it.client.putPolicy('hostile', { rules });
    const page = await it.open('/policies/hostile');
    await button(page, 'Judge it').click();
    await page.getByText("<img src=x onerror=alert('reason')>").waitFor();
    await page.getByText('a<U+202E>b').first().waitFor();
    await expectInert(page);
    await text(page).focus();
    await page.keyboard.press('Control+A');
    await page.keyboard.type('rules: []');
    await tabTo(page, 'Save as version 2');
    await page.keyboard.press('Enter');
    await page.getByText('Saved as version 2').waitFor();
    expect((await it.client.getPolicy('hostile')).document.rules).toEqual([]);
  });

  test('without the scopes the controls are off and name them', async () => {
    const { key } = await it.client.createKey({ name: 'reader', kind: 'person', scopes: ['policies:read'] });
    await it.client.putPolicy('read-only', held);
    const page = await it.open('/policies/read-only', { key, expected: [/status of 403/] });
    const save = page.getByRole('button', { name: /^Save as version/ });
    await save.waitFor();
    expect(await save.getAttribute('aria-disabled')).toBe('true');
    expect(await save.textContent()).toContain('policies:write');
    await page.goto('/rules');
    await page.getByText('Your key has not the scope approvals:read').waitFor();
    await page.goto('/replay');
    await page.getByText('Your key has not the scope runs:read').waitFor();
    await checkAccess(page);
  });
});
