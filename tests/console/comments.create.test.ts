import type { Page } from 'playwright-core';
import { expect, test } from 'vitest';
import { allowBash, bash, finished, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { expectInert, markup } from './expect-inert.ts';
import { askedInComment } from './model-words.ts';
import { tabTo } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();

const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const lineNumber = (page: Page, text: string) =>
  page.locator('.code-line').filter({ hasText: text }).locator('.line-number').last();

async function approvalOf(runId: string) {
  await expect
    .poll(async () => (await it.client.listApprovals({ run_id: runId })).data.length, { timeout: 30_000 })
    .toBe(1);
  const [approval] = (await it.client.listApprovals({ run_id: runId })).data;
  return { id: approval?.id ?? '', action_digest: approval?.action_digest ?? '' };
}

/** A run that waits between two changes of one file. */
async function changingRun(second: string) {
  const { run } = await it.client.createRun({
    title: 'Two changes',
    plan: plan([bash('seq 10 20 > list.txt')], [{ tool: 'read_file', args: { path: 'list.txt' } }], [bash(second)]),
    policy: { rules: [{ match: { tool: 'read_file' }, action: 'hold' }, allowBash] },
  });
  const { id, action_digest } = await approvalOf(run.id);
  const goOn = async () => {
    await it.client.decideApproval(id, { decision: 'approve', action_digest });
    await finished(it.client, run.id);
  };
  return { run, goOn };
}

withBrowser('comments on lines', () => {
  test('are sent in one message, and the model reads them', async () => {
    const { run } = await it.client.createRun({
      prompt: 'write and wait',
      policy: { rules: [{ match: { tool: 'bash' }, action: 'hold' }] },
    });
    const { id, action_digest } = await approvalOf(run.id);
    const page = await it.open(`/runs/${run.id}/changes`);
    await lineNumber(page, 'const x = 1;').click();
    await page.getByLabel('Draft on line 3').fill(askedInComment);
    await checkAccess(page);
    await button(page, 'Send to the run').click();
    await page.getByRole('dialog').getByText('const x = 1;').waitFor();
    await checkAccess(page);
    await page.keyboard.press('Control+Enter');
    await page.getByText('The comments were sent').waitFor();
    expect(await page.getByLabel(/^Draft on line/).count()).toBe(0);
    await it.client.decideApproval(id, { decision: 'approve', action_digest });
    await finished(it.client, run.id);
    const [last] = (await it.client.listTurns(run.id, { order: 'desc', limit: 1 })).data;
    expect(last?.message).toBe(`I have read: ${askedInComment}`);
    const said = JSON.stringify((await it.client.listTurns(run.id)).data);
    expect(said).toContain('sum.ts, line 3');
    expect(said).toContain('> const x = 1;');
  });

  test('follow their lines over a new snapshot, and survive a reload', async () => {
    const { run, goOn } = await changingRun('printf "new\\nnew\\n" | cat - list.txt > longer && mv longer list.txt');
    const page = await it.open(`/runs/${run.id}/changes`);
    await lineNumber(page, '14').click();
    await page.getByLabel('Draft on line 5').fill('why fourteen?');
    await page.reload();
    await page.getByLabel('Draft on line 5').waitFor();
    await goOn();
    const moved = page.getByLabel('Draft on line 7');
    await moved.waitFor();
    expect(await moved.inputValue()).toBe('why fourteen?');
    await button(page, 'Send to the run').click();
    await page.getByRole('dialog').getByText('line 7').waitFor();
    await page.getByRole('dialog').getByText('14', { exact: true }).waitFor();
  });

  test('stay when their line is gone, and say so', async () => {
    const { run, goOn } = await changingRun('sed -i /14/d list.txt');
    const page = await it.open(`/runs/${run.id}/changes`);
    await lineNumber(page, '14').click();
    await page.getByLabel('Draft on line 5').fill('keep it');
    await goOn();
    await page.getByText('The line is gone from these files').waitFor();
    expect(await page.getByLabel('Draft on line 5').inputValue()).toBe('keep it');
    await checkAccess(page);
    await page.goto(`/runs/${run.id}/changes?to=${(await it.client.getRun(run.id)).workspace.base}`);
    await page.getByText('The file is not part of this change').waitFor();
  });

  test('are written by keyboard alone, survive a reload, and hostile lines and words stay text', async () => {
    const { run } = await it.client.createRun({
      title: 'Hostile lines',
      plan: plan([bash(`printf '%s\\n' "${markup('line').replaceAll("'", '')}" > page.html`)]),
      policy: { rules: [allowBash] },
    });
    await finished(it.client, run.id);
    const page = await it.open(`/runs/${run.id}/changes`);
    await page.getByText('onerror=alert(line)').first().waitFor();
    await tabTo(page, 'Comment on a line of page.html');
    await page.keyboard.press('Enter');
    await page.getByLabel('Line', { exact: true }).fill('1');
    await page.keyboard.press('Control+Enter');
    const draft = page.getByLabel('Draft on line 1');
    await draft.waitFor();
    await expect.poll(() => draft.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.type(markup('comment'));
    await expectInert(page);
    await page.reload();
    expect(await draft.inputValue()).toBe(markup('comment'));
  });

  test('go with the reason of a rejection', async () => {
    const { run } = await changingRun('true');
    const { id } = await approvalOf(run.id);
    const page = await it.open(`/runs/${run.id}/changes`);
    await lineNumber(page, '12').click();
    await page.getByLabel('Draft on line 3').fill('not this');
    await page.goto(`/approvals/${id}`);
    await button(page, 'Reject').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByText('not this').waitFor();
    await checkAccess(page);
    await page.keyboard.press('Control+Enter');
    await dialog.getByText('Decided').waitFor();
    const message = (await it.client.getApproval(id)).decision?.message ?? '';
    expect(message).toContain('list.txt, line 3');
    expect(message).toContain('not this');
    await page.goto(`/runs/${run.id}/changes`);
    await page.locator('.code-line').first().waitFor();
    expect(await page.getByLabel(/^Draft on line/).count()).toBe(0);
  });

  test('on what a held call would do go with its rejection, by pointer and by keyboard', async () => {
    const hostile = markup('proposed').replaceAll("'", '');
    const content = `-- first\n+++ b/other\n${hostile}\nlast\n`;
    const { run } = await it.client.createRun({
      title: 'A proposal',
      plan: plan([{ tool: 'write_file', args: { path: 'made.txt', content } }]),
      policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold' }] },
    });
    const { id } = await approvalOf(run.id);
    const page = await it.open(`/approvals/${id}`);
    const row = (text: string) => page.locator('.patch-line').filter({ hasText: text });
    await row('+last').locator('.line-number').click();
    await page.getByLabel('Draft on line 4').fill('why last?');
    await tabTo(page, 'Comment on a line of made.txt');
    await page.keyboard.press('Enter');
    await page.getByLabel('Line', { exact: true }).fill('2');
    await page.keyboard.press('Control+Enter');
    const second = page.getByLabel('Draft on line 2');
    await expect.poll(() => second.evaluate((element) => element.matches(':focus'))).toBe(true);
    await page.keyboard.type(markup('comment'));
    await checkAccess(page);
    await expectInert(page);
    await page.reload();
    await page.getByLabel('Draft on line 4').waitFor();
    expect(await second.inputValue()).toBe(markup('comment'));
    await page.goto(`/runs/${run.id}/changes`);
    await page.getByText('On what a').first().waitFor();
    await page.goto(`/approvals/${id}`);
    await page.getByLabel('Draft on line 4').waitFor();
    await button(page, 'Reject').click();
    await page.getByRole('dialog').getByText('why last?').waitFor();
    await page.keyboard.press('Control+Enter');
    await page.getByRole('dialog').getByText('Decided').waitFor();
    const message = (await it.client.getApproval(id)).decision?.message ?? '';
    expect(message).toContain('made.txt, line 4\n> last\nwhy last?');
    expect(message).toContain('made.txt, line 2\n> +++ b/other');
    expect(message).not.toContain('snapshot');
    await page.keyboard.press('Escape');
    expect(await page.getByLabel(/^Draft on line/).count()).toBe(0);
  });

  test('of two tabs stay together, and a draft without words is not lost to the other tab', async () => {
    const { run } = await changingRun('true');
    const context = await it.context();
    const [one, two] = [
      await it.open(`/runs/${run.id}/changes`, { context }),
      await it.open(`/runs/${run.id}/changes`, { context }),
    ];
    await lineNumber(one, '12').click();
    const begun = one.getByLabel('Draft on line 3');
    await begun.waitFor();
    await lineNumber(two, '14').click();
    await two.getByLabel('Draft on line 5').fill('from two');
    await one.getByLabel('Draft on line 5').waitFor();
    expect(await begun.evaluate((element) => element.matches(':focus'))).toBe(true);
    await one.keyboard.type('from one');
    await two.getByLabel('Draft on line 3').waitFor();
    await one.getByRole('link', { name: 'Timeline' }).click();
    await one.locator('.step-row').first().waitFor();
    await two.getByLabel('Draft on line 5').fill('from two, longer');
    await lineNumber(two, '18').click();
    await two.getByLabel('Draft on line 9').fill('third');
    await one.goBack();
    await one.getByLabel('Draft on line 9').waitFor();
    await one.getByLabel('Draft on line 3').fill('from one, longer');
    await expect.poll(() => two.getByLabel('Draft on line 3').inputValue()).toBe('from one, longer');
    for (const page of [one, two]) {
      expect(await page.getByLabel('Draft on line 5').inputValue()).toBe('from two, longer');
      expect(await page.getByLabel('Draft on line 9').inputValue()).toBe('third');
    }
    await button(two, 'Remove all').click();
    await one
      .getByLabel(/^Draft on line/)
      .first()
      .waitFor({ state: 'detached' });
  });
});
