import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createClient } from '@holdpoint/client';
import { mcpScript } from '@holdpoint/mcp/testing';
import type { Page } from 'playwright-core';
import { afterEach, expect, inject, test } from 'vitest';
import { checkAccess } from './check-access.ts';
import { expectInert, markup } from './expect-inert.ts';
import { tabTo } from './tab-to.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();
const shared = inject('console');
/** The servers belong to the whole installation: only a key of the first tenant sees them. */
const admin = createClient({ baseUrl: shared?.url ?? 'http://127.0.0.1', key: shared?.key ?? '' });
const key = shared?.key ?? '';
const button = (page: Page, name: string) => page.getByRole('button', { name, exact: true });
const file = (): string => join(it.dataDir, 'mcp-servers.json');

afterEach(async () => {
  for (const { name } of await admin.listMcpServers()) await admin.removeMcpServer(name);
});

/** A program without a file, which describes its only tool so. */
function program(description: string, before = ''): { command: string; args: string[] } {
  const tools = `[{ name: 'act', description: ${description}, inputSchema: { type: 'object' } }]`;
  return { command: 'node', args: ['--input-type=module', '-e', mcpScript({ tools, before })] };
}
const hostile = JSON.stringify(`${markup('description')} a\u202Eb\u200B`);

withBrowser('the pages of MCP servers', () => {
  test('a program is added, shown with hostile words made visible, and accepted as it was shown', async () => {
    const page = await it.open('/servers', { key });
    await page.getByText('No server yet').waitFor();
    await checkAccess(page);
    await tabTo(page, 'Add a server');
    await page.keyboard.press('Enter');
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('notes');
    await dialog.getByLabel('Address').fill('https://10.0.0.1/mcp');
    await checkAccess(page);
    await dialog.getByRole('button', { name: 'A program' }).click();
    const { command, args } = program(hostile);
    await dialog.getByLabel('Program').fill(command);
    // One argument a line: the program is on one line.
    await dialog.getByLabel('Arguments, one a line').fill(args.map((arg) => arg.replaceAll('\n', ' ')).join('\n'));
    await dialog.getByLabel('It gets the files of a run read-only').check();
    await checkAccess(page);
    await page.keyboard.press('Control+Enter');
    await page.getByText("<img src=x onerror=alert('description')>").first().waitFor();
    await page.getByText('<U+202E>').first().waitFor();
    await page.getByText('<U+200B>').first().waitFor();
    await page.getByText('waits for a person').waitFor();
    await expectInert(page);
    await checkAccess(page);
    await tabTo(page, 'Accept');
    await page.keyboard.press('Enter');
    await dialog.getByText('New runs may call its tool').waitFor();
    await checkAccess(page);
    await page.keyboard.press('Control+Enter');
    await page.getByText('accepted', { exact: true }).waitFor();
    const server = await admin.getMcpServer('notes');
    expect(server).toMatchObject({ state: 'accepted', effect: 'read', accepted: { by: { name: 'admin' } } });
    expect(await button(page, 'Accept (It is accepted as it is)').getAttribute('aria-disabled')).toBe('true');
    await page.goto('/servers');
    await page.getByText('1 tool accepted').waitFor();
    await checkAccess(page);
  });

  test('a private address is refused in the dialog by its field, and what was typed stays', async () => {
    const page = await it.open('/servers', { key, expected: [/status of 422/] });
    await button(page, 'Add a server').click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('near');
    await dialog.getByLabel('Address').fill('https://10.0.0.1/mcp');
    await dialog.getByLabel('Headers, one a line').fill('Authorization: Bearer {TOKEN}');
    await button(page, 'Add it and ask it for its tools').click();
    await dialog.getByRole('alert').getByText('/server/url', { exact: true }).waitFor();
    expect(await dialog.getByLabel('Address').inputValue()).toBe('https://10.0.0.1/mcp');
    await checkAccess(page);
    expect(await admin.listMcpServers()).toEqual([]);
  });

  test('an entry that was edited is shown beside the accepted one', async () => {
    const added = await admin.addMcpServer({ name: 'edited', server: program(JSON.stringify('Acts.')) });
    await admin.acceptMcpServer('edited', { digest: added.seen?.digest ?? '' });
    const content = JSON.parse(readFileSync(file(), 'utf8'));
    content.servers.edited.env = { REACH: markup('entry') };
    writeFileSync(file(), JSON.stringify(content));
    const page = await it.open('/servers/edited', { key });
    await page.getByText('changed', { exact: true }).waitFor();
    const entry = page.getByRole('region', { name: 'Entry', exact: true });
    await entry.getByText('Accepted', { exact: true }).waitFor();
    expect(await page.getByLabel('Entry, Accepted').textContent()).not.toContain('REACH');
    expect(await page.getByLabel('Entry, now').textContent()).toContain('onerror=alert');
    await expectInert(page);
    await checkAccess(page);
    await button(page, 'Ask it now').click();
    await button(page, 'Accept').click();
    await button(page, 'Let runs call its tools').click();
    await page.getByText('accepted', { exact: true }).waitFor();
    expect((await admin.getMcpServer('edited')).accepted?.entry?.env).toMatchObject({ REACH: expect.any(String) });
  });

  test('a server that is another by the time of the acceptance: nothing is accepted, and both are shown', async () => {
    // It describes itself differently each time.
    await admin.addMcpServer({ name: 'moody', server: program('"Said at " + process.hrtime.bigint()') });
    const page = await it.open('/servers/moody', { key, expected: [/status of 409/] });
    const tools = page.getByRole('region', { name: 'Tools', exact: true });
    const said = (is: string) => tools.getByLabel(`Description of mcp__moody__act, ${is}`).textContent();
    const before = await said('now');
    await button(page, 'Accept').click();
    await button(page, 'Let runs call its tools').click();
    await page.getByRole('alert').getByText('It is another than the one you looked at').waitFor();
    await tools.getByText('Looked at', { exact: true }).waitFor();
    expect(await said('Looked at')).toBe(before);
    expect(await said('now')).not.toBe(before);
    await checkAccess(page);
    expect(await admin.getMcpServer('moody')).toMatchObject({ state: 'waiting', offered: false, accepted: null });
  });

  test('a server that does not answer has its last words on its page, and is removed', async () => {
    const server = {
      command: 'bash',
      args: ['-c', `echo "no licence ${markup('stderr').replaceAll("'", '')}" >&2; exit 3`],
    };
    await admin.addMcpServer({ name: 'dead', server });
    const page = await it.open('/servers', { key, expected: [/status of 404/] });
    await page.getByText('does not answer').waitFor();
    await page.getByRole('link', { name: 'dead' }).click();
    await page.getByText('no licence').first().waitFor();
    await expectInert(page);
    await checkAccess(page);
    await button(page, 'Remove').click();
    await button(page, 'Remove it').click();
    await page.getByText('No server yet').waitFor();
    expect(await admin.listMcpServers()).toEqual([]);
  });

  test('without a scope the page names it, and with reading alone the controls are off', async () => {
    const server = program(JSON.stringify('Acts.'));
    await admin.addMcpServer({ name: 'seen', server });
    const foreign = await it.open('/servers');
    await foreign.getByText('mcp:read').first().waitFor();
    expect(await foreign.getByRole('button', { name: /^Add a server/ }).textContent()).toContain('mcp:write');
    const made = await admin.createKey({
      name: `reader ${crypto.randomUUID()}`,
      kind: 'person',
      scopes: ['mcp:read', 'approvals:read', 'runs:read'],
    });
    const page = await it.open('/servers/seen', { key: made.key });
    await page.getByText('waits for a person').waitFor();
    for (const name of [/^Accept/, /^Ask it now/, /^Remove/]) {
      const control = page.getByRole('button', { name });
      expect(await control.getAttribute('aria-disabled')).toBe('true');
      expect(await control.textContent()).toContain('mcp:write');
    }
    await checkAccess(page);
    await admin.revokeKey(made.id);
  });
});
