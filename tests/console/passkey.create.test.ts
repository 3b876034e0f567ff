import { spawnSync } from 'node:child_process';
import {
  closeSync,
  existsSync,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Approval, createClient } from '@holdpoint/client';
import type { Page } from 'playwright-core';
import { expect, inject, test } from 'vitest';
import { appEnv, projectDir } from '../harness/processes.ts';
import { finished, nextApproval, plan } from '../harness/runs.ts';
import { checkAccess } from './check-access.ts';
import { useConsole, withBrowser } from './use-console.ts';

const it = useConsole();
/** Passkeys are made for names, and the tests reach the system by its address. */
const named = (): string => it.url.replace('127.0.0.1', 'localhost');

const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name });
const dialog = (page: Page) => page.getByRole('dialog');
const confirm = (page: Page, name: string | RegExp) => dialog(page).getByRole('button', { name });

const openNamed = async (path: string) => it.open(path, { context: await it.context({ url: named() }), url: named() });

/** A page whose browser has an authenticator that confirms everything, as a person with a finger on it. `checkAccess` would take it away. */
async function openWithAuthenticator(path: string, expected: RegExp[] = []) {
  const context = await it.context({ url: named() });
  const page = await it.open('/runs', { context, url: named(), expected });
  const devtools = await context.newCDPSession(page);
  await devtools.send('WebAuthn.enable');
  const { authenticatorId } = await devtools.send('WebAuthn.addVirtualAuthenticator', {
    options: {
      ...{ protocol: 'ctap2', transport: 'internal', hasResidentKey: true, hasUserVerification: true },
      ...{ isUserVerified: true, automaticPresenceSimulation: true },
    },
  });
  const verifies = (isUserVerified: boolean) =>
    devtools.send('WebAuthn.setUserVerified', { authenticatorId, isUserVerified });
  if (path !== '/runs') await page.goto(path);
  return { page, verifies };
}

async function permit(): Promise<string> {
  const admin = createClient({ baseUrl: it.url, key: inject('console')?.key ?? '' });
  const { tenant } = await it.client.getMe();
  const { code } = await admin.permitPasskey({ person: 'ann', tenant });
  await admin.close();
  return code;
}

async function held(title: string): Promise<Approval> {
  const { run } = await it.client.createRun({
    title,
    plan: plan([{ tool: 'write_file', args: { path: 'released.txt', content: 'text\n' } }]),
    policy: { rules: [{ match: { tool: 'write_file' }, action: 'hold', confirm: 'passkey' }] },
  });
  await expect.poll(async () => (await it.client.listApprovals({ run_id: run.id })).data).toHaveLength(1);
  const [approval] = (await it.client.listApprovals({ run_id: run.id })).data;
  if (approval === undefined) throw new Error('no approval');
  return approval;
}

async function addPasskey(page: Page, name: string, code = '') {
  await button(page, 'More').click();
  await button(page, 'Add a passkey').click();
  await dialog(page).getByLabel('Name of the device').fill(name);
  if (code !== '') await dialog(page).getByLabel('Code of the operator').fill(code);
  await confirm(page, 'Add').click();
}

/** As an auditor runs it; the exit code says whether all is as it was sealed. */
function audit(...args: string[]): { ok: boolean; text: string } {
  const env = { ...appEnv, HOLDPOINT_DATA: it.dataDir };
  const command = ['apps/cli/src/main.ts', 'audit', ...args];
  const { status, stdout, stderr } = spawnSync(process.execPath, command, { cwd: projectDir, env, encoding: 'utf8' });
  return { ok: status === 0, text: stdout + (status === 0 ? '' : stderr) };
}

/** Flips a bit of the first signature in a file, in its place: the writer of the audit log may append at the same time. */
function flipSignature(file: string): void {
  const at = readFileSync(file).indexOf('"signature":"') + 20;
  const handle = openSync(file, 'r+');
  const byte = Buffer.alloc(1);
  readSync(handle, byte, 0, 1, at);
  writeSync(handle, Buffer.from([(byte[0] ?? 0) ^ 1]), 0, 1, at);
  closeSync(handle);
}

withBrowser('a passkey', () => {
  test('is added with a code, releases a call in the page, and the audit log proves it until a byte is flipped', async () => {
    const { page } = await openWithAuthenticator('/runs');
    await addPasskey(page, 'Laptop', await permit());
    await dialog(page).getByText('Laptop').waitFor();
    await confirm(page, 'Close').click();
    const approval = await held('Released by passkey');
    expect(approval.confirm).toBe('passkey');
    const { id, action_digest } = approval;
    await expect(it.client.decideApproval(id, { decision: 'approve', action_digest })).rejects.toMatchObject({
      ...{ status: 403, code: 'passkey_required' },
      next: expect.stringContaining(`/approvals/${id}`),
    });
    await page.goto(`/approvals/${id}`);
    await button(page, 'Approve').click();
    await dialog(page).getByText('Your passkey confirms it.').waitFor();
    await confirm(page, /^Approve/).click();
    await dialog(page).getByText('confirmed by passkey').waitFor();
    await finished(it.client, approval.run_id);
    const sealed = async () =>
      (await it.client.listAudit({ run_id: approval.run_id, limit: 200 })).data.filter(
        (record) => record.kind === 'approval' && record.assertion !== undefined,
      );
    await expect.poll(sealed).toHaveLength(1);
    expect(audit('verify')).toMatchObject({ ok: true, text: expect.stringContaining('as it was sealed') });
    const file = join(it.dataDir, `export-${approval.run_id}.jsonl`);
    writeFileSync(file, audit('export').text);
    expect(audit('verify', '--file', file)).toMatchObject({ ok: true });
    flipSignature(file);
    expect(audit('verify', '--file', file)).toMatchObject({ ok: false });
    const segment = join(it.dataDir, 'audit', '000000000001.jsonl');
    flipSignature(segment);
    try {
      expect(audit('verify')).toMatchObject({ ok: false, text: expect.stringContaining('record_changed') });
    } finally {
      flipSignature(segment);
    }
  });

  test('approves a publish, and nothing reaches the files without it', async () => {
    const path = mkdtempSync(join(tmpdir(), 'console-source-'));
    try {
      const { page } = await openWithAuthenticator('/runs');
      await addPasskey(page, 'Publisher', await permit());
      await dialog(page).getByText('Publisher').waitFor();
      await confirm(page, 'Close').click();
      const { run } = await it.client.createRun({
        title: 'Published by passkey',
        plan: plan([{ tool: 'write_file', args: { path: 'new.txt', content: 'new\n' } }]),
        policy: { publish: 'passkey' },
        workspace: { source: { type: 'directory', path } },
      });
      await finished(it.client, run.id);
      const publishing = it.client.publish(run.id, {}).catch(() => undefined);
      const { id, action_digest } = await nextApproval(it.client, run.id);
      await expect(it.client.decideApproval(id, { decision: 'approve', action_digest })).rejects.toMatchObject({
        ...{ status: 403, code: 'passkey_required' },
      });
      await page.goto(`/approvals/${id}`);
      await button(page, 'Publish').click();
      await dialog(page).getByText('Your passkey confirms it.').waitFor();
      expect(existsSync(join(path, 'new.txt'))).toBe(false);
      await confirm(page, /^Publish/).click();
      await dialog(page).getByText('confirmed by passkey').waitFor();
      await publishing;
      await expect.poll(async () => (await it.client.getRun(run.id)).publication.status).toBe('published');
      expect(readFileSync(join(path, 'new.txt'), 'utf8')).toBe('new\n');
      expect(audit('verify')).toMatchObject({ ok: true });
    } finally {
      rmSync(path, { recursive: true, force: true });
    }
  });

  test('is asked for and listed accessibly', async () => {
    const page = await openNamed('/runs');
    await button(page, 'More').click();
    await button(page, 'Add a passkey').click();
    await dialog(page).getByLabel('Name of the device').waitFor();
    await checkAccess(page);
    const approval = await held('To look at');
    await page.goto(`/approvals/${approval.id}`);
    await button(page, 'Approve').click();
    await dialog(page).getByText('Your passkey confirms it.').waitFor();
    await checkAccess(page);
  });

  test('that is refused by the person leaves the approval open, and a second try releases it', async () => {
    const { page, verifies } = await openWithAuthenticator('/runs', [/status of 4\d\d/]);
    await addPasskey(page, 'Phone', await permit());
    await dialog(page).getByText('Phone').waitFor();
    await confirm(page, 'Close').click();
    const approval = await held('Refused first');
    await page.goto(`/approvals/${approval.id}`);
    await verifies(false);
    await button(page, 'Approve').click();
    await confirm(page, /^Approve/).click();
    await dialog(page).getByText('No passkey signed it').waitFor();
    expect((await it.client.getApproval(approval.id)).status).toBe('pending');
    await verifies(true);
    await confirm(page, /^Approve/).click();
    await dialog(page).getByText('confirmed by passkey').waitFor();
  });

  test('is not added by a login alone, and a page at an address says where passkeys are', async () => {
    const { page } = await openWithAuthenticator('/runs', [/status of 403/]);
    await addPasskey(page, 'Stolen', `hpp_${'A'.repeat(43)}`);
    await dialog(page).getByText('this code is not of ann').waitFor();
    const approval = await held('At an address');
    const there = await it.open(`/approvals/${approval.id}`, { expected: [/status of 409/] });
    await button(there, 'Approve').click();
    await confirm(there, /^Approve/).click();
    await dialog(there).getByText(`Open the console at ${named()}`).waitFor();
    expect((await it.client.getApproval(approval.id)).status).toBe('pending');
  });
});
