import { createClient } from '@holdpoint/client';
import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { allowBash, bash, finished, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { expectInert, markup } from './expect-inert.ts';
import { tabTo } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();
const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });

withBrowser('keys', () => {
  test('a key is made, shown once and stored nowhere, rotated and revoked', async () => {
    const page = await it.open('/keys');
    await page.getByText('Your key').waitFor();
    await button(page, 'New key').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('build server');
    await dialog.getByRole('button', { name: 'A service' }).click();
    await dialog.getByLabel('runs:read').check();
    await checkAccess(page);
    await dialog.getByRole('button', { name: 'Create the key' }).click();
    await dialog.getByText('It is shown this once').waitFor();
    const text = (await dialog.locator('.issued').textContent()) ?? '';
    const client = createClient({ baseUrl: it.url, key: text });
    expect(await client.getMe()).toMatchObject({ name: 'build server', kind: 'service', scopes: ['runs:read'] });
    await checkAccess(page);
    await page.keyboard.press('Escape');
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    const kept = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.documentElement.outerHTML])';
    expect(await page.evaluate<string>(kept)).not.toContain(text);
    await button(page, 'Rotate build server').click();
    await dialog.getByRole('button', { name: 'Rotate it' }).click();
    await dialog.getByText('It is shown this once').waitFor();
    expect(await dialog.locator('.issued').textContent()).not.toBe(text);
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await expect(client.getMe()).rejects.toMatchObject({ status: 401 });
    await button(page, 'Revoke build server').click();
    await dialog.getByRole('button', { name: 'Revoke it' }).click();
    await page.getByText('revoked', { exact: true }).waitFor();
    await checkAccess(page);
    await client.close();
  });

  test('the API says what is wrong with a key, and an agent never gets what decides', async () => {
    const page = await it.open('/keys', { expected: [/status of 422/] });
    await button(page, 'New key').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill(markup('key'));
    await dialog.getByLabel('runs:read').check();
    await page.keyboard.press('Control+Enter');
    await dialog.getByRole('alert').getByText('/name').first().waitFor();
    await expectInert(page);
    await dialog.getByRole('button', { name: 'An agent' }).click();
    expect(await dialog.getByLabel('approvals:decide').isDisabled()).toBe(true);
  });

  test('the own key is rotated without the loss of the page that shows its text', async () => {
    const { key } = await it.client.createKey({ name: 'self', kind: 'person', scopes: ['keys:admin', 'runs:read'] });
    const page = await it.open('/keys', { key, expected: [/status of 403/] });
    await button(page, 'Rotate self').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel(/stays valid/).fill('0');
    await page.keyboard.press('Control+Enter');
    expect(await dialog.getByLabel(/stays valid/).evaluate((field) => field.matches(':invalid'))).toBe(true);
    await dialog.getByLabel(/stays valid/).fill('1');
    await page.keyboard.press('Control+Enter');
    await dialog.getByText('It is shown this once').waitFor();
    await dialog.getByRole('button', { name: 'I have kept it' }).click();
    await page.reload();
    await page.getByText('old text valid, too').waitFor();
  });

  test('without keys:admin the page shows the own key alone, and names the scope', async () => {
    const { key } = await it.client.createKey({ name: 'plain', kind: 'person', scopes: ['approvals:read'] });
    const page = await it.open('/keys', { key, expected: [/status of 403/] });
    await page.getByText('Your key has not the scope keys:admin', { exact: true }).waitFor();
    expect(await button(page, /New key/).getAttribute('aria-disabled')).toBe('true');
    await checkAccess(page);
  });
});

withBrowser('sessions', () => {
  test('another browser is logged out alone, and all others at once; this one stays', async () => {
    const { key } = await it.client.createKey({
      name: 'many',
      kind: 'person',
      scopes: ['runs:read', 'approvals:read'],
    });
    const expected = [/status of 401/];
    const [first, second, third] = [
      await it.open('/runs', { key, expected }),
      await it.open('/runs', { key, expected }),
      await it.open('/sessions', { key }),
    ];
    const list = third.getByLabel('Sessions', { exact: true }).getByRole('listitem');
    await expect.poll(() => list.count()).toBe(3);
    await checkAccess(third);
    // The oldest is the last of the list.
    await tabTo(third, 'End all others');
    await list.last().getByRole('button').focus();
    await third.keyboard.press('Enter');
    await third.getByRole('dialog').waitFor();
    await third.keyboard.press('Control+Enter');
    await expect.poll(() => list.count()).toBe(2);
    await first.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await button(third, 'End all others').click();
    await button(third, 'End them').click();
    await expect.poll(() => list.count()).toBe(1);
    await second.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await third.reload();
    await third.getByText('this browser').waitFor();
  });
});

withBrowser('the audit page', () => {
  test('shows the last records first, by kind and run, with hostile text as text, and exports them', async () => {
    const { run } = await it.client.createRun({
      title: 'Audited',
      policy: { rules: [allowBash] },
      plan: plan([bash(`# ${markup('audit').replaceAll("'", '')} a\u202Eb\ntrue`)]),
    });
    await finished(it.client, run.id);
    await expect.poll(async () => (await it.client.listAudit({ run_id: run.id, kind: ['call'] })).data.length).toBe(1);
    const page = await it.open('/audit');
    await page.getByLabel('Records, the last first').getByText('onerror=alert(audit)').first().waitFor();
    await expectInert(page);
    await checkAccess(page);
    await button(page, 'call').click();
    await page.getByLabel('Run id').fill(run.id);
    const records = page.locator('.record');
    await expect.poll(() => records.count()).toBe(1);
    await expect.poll(() => new URL(page.url()).search).toBe(`?kind=call&run=${run.id}`);
    await records.locator('summary').focus();
    await page.keyboard.press('Enter');
    await page.getByText('"kind": "call"').waitFor();
    await page.getByText('a<U+202E>b').first().waitFor();
    await checkAccess(page);
    const loading = page.waitForEvent('download');
    await page.getByRole('link', { name: 'Export' }).click();
    const lines: string[] = [];
    for await (const chunk of await (await loading).createReadStream()) lines.push(String(chunk));
    expect(JSON.parse(lines.join(''))).toMatchObject({ kind: 'call', run_id: run.id });
  });

  test('verifies the whole log, also against a head that was kept', async () => {
    const admin = inject('console')?.key ?? '';
    const page = await it.open('/audit', { key: admin, expected: [/status of 422/] });
    await button(page, 'Show the head').click();
    const head = page.getByLabel('The seal').locator('pre');
    await head.waitFor();
    const kept = (await head.textContent()) ?? '';
    expect(kept).toMatch(/^\d+:[0-9a-f]{64}$/);
    await page.getByLabel('A head that you kept').fill(kept);
    await button(page, 'Verify').click();
    await page.getByText('Everything is as it was sealed').waitFor();
    await checkAccess(page);
    await page.getByLabel('A head that you kept').fill(kept.replace(/.$/, (last) => (last === '0' ? '1' : '0')));
    await button(page, 'Verify').click();
    await page.getByText('head_changed').waitFor();
    await page.getByLabel('A head that you kept').fill('nonsense');
    await button(page, 'Verify').click();
    await page.getByRole('alert').getByText('SEQ:HASH').first().waitFor();
  });

  test('without audit:verify the check is off and names the scope', async () => {
    const page = await it.open('/audit');
    await page.getByLabel('The seal').waitFor();
    expect(await button(page, /^Verify/).getAttribute('aria-disabled')).toBe('true');
    expect(await button(page, /^Verify/).textContent()).toContain('audit:verify');
  });
});
