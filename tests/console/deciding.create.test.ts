import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Approval, CreateRun } from '@holdpoint/client';
import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { finished, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();

const write = (path: string, content = 'text\n') => ({ tool: 'write_file', args: { path, content } });
const bash = (command: string) => ({ tool: 'bash', args: { command } });

/** A run with a held call, and the approval of the call. */
async function held(
  title: string,
  step: { tool: string; args: Record<string, string> },
  more: Partial<CreateRun> = {},
) {
  const rules = [{ match: { tool: step.tool }, action: 'hold' as const, reason: `${step.tool} is looked at` }];
  const { run } = await it.client.createRun({ title, plan: plan([step]), policy: { rules }, ...more });
  return { run, approval: await pending(run.id) };
}

async function pending(runId: string): Promise<Approval> {
  const [approval] = await expect
    .poll(async () => (await it.client.listApprovals({ run_id: runId })).data, { timeout: 30_000 })
    .not.toEqual([])
    .then(async () => (await it.client.listApprovals({ run_id: runId })).data);
  if (approval === undefined) throw new Error('no approval');
  return approval;
}

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const confirm = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name });

withBrowser('deciding', () => {
  test('a plan shows its text and its todos before it is approved, and hostile text stays text', async () => {
    const args = {
      title: 'Repair the sum',
      plan: 'add subtracts.\n<img src=x onerror=alert(1)>',
      todos: [{ content: 'Repair add in src/add.js' }, { content: 'Run the tests' }],
    };
    const { run } = await it.client.createRun({
      title: 'Plan first',
      plan: { groups: [{ steps: [{ tool: 'submit_plan', args }] }, { steps: [write('done.txt')] }] },
      modes: { plan: true },
    } as CreateRun);
    const approval = await pending(run.id);
    const page = await it.open(`/approvals/${approval.id}`);
    const text = page.locator('pre', { hasText: '[ ] Run the tests' });
    await text.waitFor();
    expect(await text.textContent()).toContain('[ ] Repair add in src/add.js\n[ ] Run the tests');
    expect(await text.textContent()).toContain('<img src=x onerror=alert(1)>');
    await checkAccess(page);
    await button(page, 'Approve').click();
    await confirm(page, /^Approve/).click();
    await dialog(page).getByText('Decided').waitFor();
    await finished(it.client, run.id);
    const events = await it.client.listEvents(run.id);
    expect(events.data.map(({ type }) => type)).toContain('run.plan_approved');
  });

  test('a call and then a publish are approved from the inbox, which learns of the publish by itself', async () => {
    const path = mkdtempSync(join(tmpdir(), 'console-source-'));
    try {
      writeFileSync(join(path, 'old.txt'), 'old\n');
      const { run } = await held('Add a file', write('new.txt', 'new\n'), {
        workspace: { source: { type: 'directory', path } },
        policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }], publish: 'hold' },
      });
      const page = await it.open('/approvals');
      await page.getByRole('link', { name: 'write_file' }).waitFor();
      await checkAccess(page);
      await page.getByRole('link', { name: 'write_file' }).click();
      await page.getByText('+new', { exact: true }).waitFor();
      await checkAccess(page);
      await button(page, 'Approve').click();
      await checkAccess(page);
      await confirm(page, /^Approve/).click();
      await dialog(page).getByText('Decided').waitFor();
      await button(page, 'Close').click();
      await finished(it.client, run.id);
      await page.getByRole('link', { name: 'Inbox', exact: true }).first().click();
      await page.getByText('Nothing waits for you').waitFor();
      const publishing = it.client.publish(run.id, {}).catch(() => undefined);
      await page.getByRole('link', { name: 'publish' }).click();
      await page.getByText('new.txt').first().waitFor();
      await page.getByRole('region', { name: 'Lines of the change' }).getByText('new', { exact: true }).waitFor();
      await checkAccess(page);
      await button(page, 'Publish').click();
      await confirm(page, /^Publish/).click();
      await dialog(page).getByText('Decided').waitFor();
      await expect.poll(async () => (await it.client.getRun(run.id)).publication.status).toBe('published');
      await publishing;
      expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('new\n');
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });

  test('what the run read before the call, and how such calls were decided, stand beside it', async () => {
    const command = 'echo decided before';
    const first = await held('The first of two', bash(command));
    const { id, action_digest } = first.approval;
    await it.client.decideApproval(id, { decision: 'reject', action_digest, message: 'not yet' });
    const { run } = await it.client.createRun({
      title: 'The second of two',
      plan: plan([{ tool: 'list_directory', args: { path: '.' } }], [bash(command)]),
      policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
    });
    const page = await it.open(`/approvals/${(await pending(run.id)).id}`);
    const before = page.getByRole('region', { name: 'Decided before' });
    await before.getByText('rejected once').first().waitFor();
    await before.getByRole('link', { name: 'rejected' }).waitFor();
    const led = page.getByRole('region', { name: 'What led to it' });
    await led.getByText('Read since the run began').waitFor();
    await led.getByText('1 call', { exact: true }).waitFor();
    await checkAccess(page);
  });

  test('an edit with a wrong type is refused at its field, and with the right type the call runs with it', async () => {
    const { run, approval } = await held('Wait a little', bash('echo hello'));
    const page = await it.open(`/approvals/${approval.id}`, { expected: [/status of 422/] });
    await button(page, 'Edit').click();
    const field = dialog(page).getByLabel(/^timeout_s/);
    await field.fill('soon');
    await confirm(page, /^Approve with these/).click();
    const mistake = dialog(page)
      .locator('.field')
      .filter({ has: page.getByLabel(/^timeout_s/) })
      .getByRole('alert');
    await mistake.waitFor();
    expect((await it.client.getApproval(approval.id)).status).toBe('pending');
    await checkAccess(page);
    await field.fill('7');
    await confirm(page, /^Approve with these/).click();
    await dialog(page).getByText('Approved with other arguments').waitFor();
    await finished(it.client, run.id);
    expect((await it.client.getStep(approval.step_id ?? '')).args).toMatchObject({ timeout_s: 7 });
  });

  test('malformed JSON names its place, and nothing is sent', async () => {
    const { approval } = await held('Malformed', bash('echo hello'));
    const page = await it.open(`/approvals/${approval.id}`);
    const sent: string[] = [];
    page.on('request', (request) => void (request.method() === 'POST' && sent.push(request.url())));
    await button(page, 'Edit').click();
    await button(page, 'JSON').click();
    await dialog(page).getByLabel('Arguments as JSON').fill('{\n  "command": hello\n}');
    await dialog(page).getByText('Line 2, column 14').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.keyboard.press('Escape');
    await dialog(page).waitFor({ state: 'detached' });
    expect(sent).toEqual([]);
  });

  test('of two browsers that decide at once one wins, and the other says who and when', async () => {
    const { approval } = await held('Two decide', write('two.txt'));
    const pages = [
      await it.open(`/approvals/${approval.id}`, { expected: [/status of 409/] }),
      await it.open(`/approvals/${approval.id}`, { expected: [/status of 409/], width: 360 }),
    ] as const;
    await button(pages[0], 'Approve').click();
    await button(pages[1], 'Reject').click();
    await dialog(pages[1]).getByLabel('Why?').fill('Not now');
    await Promise.all([confirm(pages[0], /^Approve/).click(), confirm(pages[1], /^Reject/).click()]);
    const heads = await Promise.all(
      pages.map((page) =>
        dialog(page)
          .getByRole('heading', { name: /^(Decided|Not decided)$/ })
          .textContent(),
      ),
    );
    expect(heads.toSorted()).toEqual(['Decided', 'Not decided']);
    const loser = pages[heads.indexOf('Not decided')];
    await dialog(loser ?? pages[0])
      .getByText(/by ann, /)
      .waitFor();
    const now = await it.client.getApproval(approval.id);
    expect(now.status).toBe(heads[0] === 'Decided' ? 'approved' : 'rejected');
  });

  test('a double click sends one decision, and a lost answer is looked up instead of sent blindly', async () => {
    const { run, approval } = await held('Lost answer', bash('echo once >> file; cat file'));
    const page = await it.open(`/approvals/${approval.id}`, { expected: [/ERR_FAILED|decision/] });
    let sent = 0;
    await page.route('**/decision', async (route) => {
      sent++;
      await route.fetch();
      await route.abort();
    });
    await button(page, 'Approve').click();
    await confirm(page, /^Approve/).dblclick();
    await dialog(page).getByText('No answer came').waitFor();
    expect(sent).toBe(1);
    await button(page, 'Look whether it counts').click();
    await dialog(page).getByText('Decided').waitFor();
    await finished(it.client, run.id);
    expect((await it.client.getStep(approval.step_id ?? '')).result).toMatchObject({ stdout: 'once\n' });
  });

  test('a call is run for show, and approving applies exactly the result that was seen', async () => {
    const { run, approval } = await held(
      'Show me',
      bash('echo shown > shown.txt; date +%N >> shown.txt; cat shown.txt'),
    );
    const page = await it.open(`/approvals/${approval.id}`);
    await button(page, 'Run it and show me').click();
    await page.getByText('It was run on a throw-away copy').waitFor();
    const shown = await page.getByText(/^\+\d+$/).textContent();
    await checkAccess(page);
    await button(page, 'Approve').click();
    await confirm(page, /^Approve/).click();
    await dialog(page).getByText('Decided').waitFor();
    await finished(it.client, run.id);
    const { files } = await it.client.diff(run.id);
    expect(files[0]?.hunks[0]?.lines).toContain(shown);
  });

  test('a call that became another under the open dialog is not approved: both stand side by side', async () => {
    const { approval } = await held('Changes under the dialog', bash('echo changed > file.txt'));
    const page = await it.open(`/approvals/${approval.id}`, { expected: [/status of 409/] });
    await button(page, 'Approve').click();
    const after = await it.client.previewApproval(approval.id);
    expect(after.replaces).toBe(approval.id);
    await confirm(page, /^Approve/).click();
    await dialog(page).getByRole('heading', { name: 'Not decided' }).waitFor();
    await dialog(page).getByRole('heading', { name: 'What you read' }).waitFor();
    await dialog(page).getByRole('heading', { name: 'What it is now' }).waitFor();
    await checkAccess(page);
    expect((await it.client.getApproval(after.id)).status).toBe('pending');
  });

  test('text that is cut or was not scrolled to its end asks once more before it is approved', async () => {
    const { approval } = await held('Long text', write('long.txt', 'a line of text\n'.repeat(6000)));
    const page = await it.open(`/approvals/${approval.id}`);
    await page.getByText('It is too long to be shown here').waitFor();
    await button(page, 'Approve').click();
    expect(await confirm(page, /^Approve/).getAttribute('aria-disabled')).toBe('true');
    await page.keyboard.press('Control+Enter');
    expect((await it.client.getApproval(approval.id)).status).toBe('pending');
    await dialog(page).getByLabel('I approve it without having read all of it').check();
    await confirm(page, /^Approve/).click();
    await dialog(page).getByText('Decided').waitFor();
    expect((await it.client.getApproval(approval.id)).status).toBe('approved');
  });

  test('the keyboard alone finds, opens and approves; Enter and letters decide nothing', async () => {
    const { approval } = await held('By keyboard', write('key.txt'));
    const page = await it.open('/runs');
    await page.getByRole('link', { name: 'By keyboard' }).waitFor();
    await page.keyboard.press('g');
    await page.keyboard.press('a');
    const row = page.locator(`a[href="/approvals/${approval.id}"]`);
    await row.waitFor();
    await page.keyboard.press('j');
    while (!(await row.evaluate((element) => element.matches(':focus')))) await page.keyboard.press('j');
    await page.keyboard.press('Enter');
    await button(page, 'Approve').waitFor();
    for (const key of 'aeryjkn') await page.keyboard.press(key);
    await page.keyboard.press('Enter');
    await button(page, 'Approve').focus();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor();
    expect((await it.client.getApproval(approval.id)).status).toBe('pending');
    await page.keyboard.press('Control+Enter');
    await dialog(page).getByText('Decided').waitFor();
    await page.keyboard.press('Enter');
    await dialog(page).waitFor({ state: 'detached' });
    expect((await it.client.getApproval(approval.id)).status).toBe('approved');
  });

  test('after the end of the session a login brings back the page with what was typed', async () => {
    const { approval } = await held('Session ends', write('session.txt'));
    const page = await it.open(`/approvals/${approval.id}`, { expected: [/status of 401/] });
    await button(page, 'Reject').click();
    await dialog(page).getByLabel('Why?').fill('A reason that took long to write');
    await page.context().clearCookies();
    // A query of the page may be refused first: the login then lies over the button.
    await confirm(page, /^Reject/).dispatchEvent('click');
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor();
    await checkAccess(page);
    await page.getByLabel('Key', { exact: true }).fill(it.key);
    await button(page, 'Log in').click();
    await page.getByRole('dialog', { name: 'Your session has ended' }).waitFor({ state: 'detached' });
    expect(await dialog(page).getByLabel('Why?').inputValue()).toBe('A reason that took long to write');
    await confirm(page, /^Reject/).click();
    await dialog(page).getByText('Decided').waitFor();
    expect((await it.client.getApproval(approval.id)).decision?.message).toBe('A reason that took long to write');
  });
});
