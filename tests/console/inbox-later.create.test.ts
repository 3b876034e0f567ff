import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { tabTo } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();

/** An approval that waits. */
async function held(
  title: string,
  terms: { expires_s?: number; deciders?: { names: string[] } } = {},
): Promise<string> {
  const rules = [{ match: { tool: 'bash' }, action: 'hold' as const, ...terms }];
  const { run } = await it.client.createRun({
    title,
    plan: plan([{ tool: 'bash', args: { command: `echo ${title}` } }]),
    policy: { rules },
  });
  await expect.poll(async () => (await it.client.listApprovals({ run_id: run.id })).data.length).toBe(1);
  return (await it.client.listApprovals({ run_id: run.id })).data[0]?.id ?? '';
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const row = (page: Page, id: string) => page.locator(`a[href="/approvals/${id}"]`);
const another = (name: string) => it.client.createKey({ name, kind: 'person', scopes });
const scopes: ('approvals:read' | 'approvals:decide' | 'runs:read' | 'tools:read')[] = [
  ...(['approvals:read', 'approvals:decide', 'runs:read', 'tools:read'] as const),
];

withBrowser('an approval for later', () => {
  test('is snoozed for one person alone, and comes back before it expires', async () => {
    const [later, soon] = [await held('later'), await held('soon', { expires_s: 1000 })];
    const { key } = await another('cid');
    const other = await it.open('/approvals', { key });
    const page = await it.open('/approvals');
    for (const id of [later, soon]) {
      await row(page, id).waitFor();
      await row(other, id).waitFor();
    }
    await page.getByLabel('Choose bash of later').check();
    await page.getByLabel('Choose bash of soon').check();
    await button(page, 'Snooze').last().click();
    // The deadline of one is in less than 17 minutes: it is out of sight for less than two.
    await page.getByText('1 of them come back').waitFor();
    await checkAccess(page);
    await page.keyboard.press('Control+Enter');
    await row(page, later).waitFor({ state: 'detached' });
    await button(page, 'Snoozed 2').click();
    await row(page, later).waitFor();
    await page.reload();
    await row(page, soon).waitFor();
    const times = await page.evaluate<string>('JSON.stringify(Object.entries(localStorage))');
    const kept = JSON.parse(
      (JSON.parse(times) as [string, string][]).find(([name]) => name.includes('snoozed'))?.[1] ?? '',
    );
    const { expires_at } = await it.client.getApproval(soon);
    expect(kept[soon]).toBe(Date.parse(expires_at) - 15 * 60_000);
    for (const id of [later, soon]) await row(other, id).waitFor();
    await page.goto(`/approvals/${later}`);
    await button(page, /^Snoozed/).click();
    await page.goto('/approvals');
    await row(page, later).waitFor();
  });

  test('is snoozed in two tabs: neither takes back what the other did', async () => {
    const ids = [await held('first'), await held('second'), await held('third')];
    const [first = '', second = '', third = ''] = ids;
    const context = await it.context();
    const [one, two] = [await it.open('/approvals', { context }), await it.open(`/approvals/${third}`, { context })];
    const snooze = async (page: Page, title: string) => {
      await page.getByLabel(`Choose bash of ${title}`).check();
      await button(page, 'Snooze').last().click();
      await page.getByRole('dialog').waitFor();
      await page.keyboard.press('Control+Enter');
    };
    await snooze(one, 'first');
    await row(one, first).waitFor({ state: 'detached' });
    // The page of a run shows nothing that is snoozed: it listens to no other tab.
    await one.getByRole('link', { name: 'Runs', exact: true }).first().click();
    await one.getByRole('heading', { name: 'Runs' }).waitFor();
    await two.goto('/approvals');
    await snooze(two, 'second');
    await row(two, second).waitFor({ state: 'detached' });
    await one.goBack();
    await row(one, third).waitFor();
    await row(one, second).waitFor({ state: 'detached' });
    await snooze(one, 'third');
    await button(two, 'Snoozed 3').waitFor();
    await button(one, 'Snoozed 3').waitFor();
  });

  test('asks for nothing that a key may not read, and says what is not shown', async () => {
    const id = await held('for a narrow key');
    const { key } = await it.client.createKey({
      name: 'narrow',
      kind: 'person',
      scopes: ['approvals:read', 'approvals:decide', 'runs:read'],
    });
    const page = await it.open(`/approvals/${id}`, { key });
    await page.getByText('Your key has not the scope tools:read. Not shown: what the tool says about them.').waitFor();
    await checkAccess(page);
    await button(page, 'Reject').click();
    await page.getByRole('dialog').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByText('Decided').waitFor();
  });

  test('is delegated by its name, and a wrong name is refused with the nearest', async () => {
    const id = await held('delegated', { deciders: { names: ['ann'] } });
    await another('dora');
    const page = await it.open(`/approvals/${id}`, { expected: [/status of 422/] });
    await button(page, 'Approve').waitFor();
    await tabTo(page, 'Delegate');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name of the caller').fill('dorra');
    await checkAccess(page);
    await page.keyboard.press('Control+Enter');
    await dialog.getByText('did you mean dora?').first().waitFor();
    await dialog.getByLabel('Name of the caller').fill('dora');
    await page.keyboard.press('Control+Enter');
    await page.getByText('Delegated to').waitFor();
    expect((await it.client.getApproval(id)).delegations).toMatchObject([{ to: 'dora' }]);
    await checkAccess(page);
  });
});

withBrowser('who is looking', () => {
  test('stands in the inbox and on the page of others while the page is open', async () => {
    const id = await held('watched');
    const everyone = await it.open(`/approvals/${id}`);
    await button(everyone, /Delegate/).waitFor();
    expect(await button(everyone, /Delegate/).textContent()).toContain('already');
    await everyone.close();
    const { key } = await another('eli');
    const inbox = await it.open('/approvals');
    await row(inbox, id).waitFor();
    const other = await it.open(`/approvals/${id}`, { key });
    await inbox.getByText('eli looks at it').waitFor();
    await checkAccess(inbox);
    const own = await it.open(`/approvals/${id}`);
    await own.getByText('eli looks at it').waitFor();
    await other.getByText('ann looks at it').waitFor();
    expect(await own.getByText('ann looks at it').count()).toBe(0);
    await other.goto('/runs');
    await own.getByText('eli looks at it').waitFor({ state: 'detached' });
    await inbox.getByText('eli looks at it').waitFor({ state: 'detached' });
    await other.close();
  });
});
