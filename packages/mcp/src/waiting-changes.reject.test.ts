import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { addServer } from './change-servers.ts';
import { openServerStore } from './server-store.ts';
import { serverSchema } from './servers.ts';

const directory = mkdtempSync(join(tmpdir(), 'holdpoint-changes-'));
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const server = serverSchema.parse({ command: 'node' });
const by = { name: 'ann' };

test('a change that was written, edited or brought by hand is recorded without an author, and the others as they are', async () => {
  const file = join(directory, 'servers.json');
  const store = await openServerStore(file, directory);
  await addServer(store, { name: 'one', server, by });
  await addServer(store, { name: 'two', server, by });
  expect(store.look().changes.map((change) => [change.subject, change.by])).toEqual([
    ['mcp/one', by],
    ['mcp/two', by],
  ]);
  const content = JSON.parse(readFileSync(file, 'utf8'));
  const [first, second] = content.changes;
  const { seal: _, ...withoutSeal } = first;
  const forged = [
    { ...first, action: 'accepted' },
    { ...first, by: { name: 'bob' } },
    { ...withoutSeal, id: 'change_forged' },
    { ...first, seal: second.seal },
  ];
  writeFileSync(file, JSON.stringify({ ...content, changes: [second, ...forged] }));
  const [own, ...others] = store.look().changes;
  expect(own).toEqual({ ...second, seal: undefined });
  expect(others).toHaveLength(forged.length);
  for (const one of others)
    expect(one).toMatchObject({
      by: { name: 'unknown' },
      detail: { unproven: expect.any(String), by: { name: expect.any(String) } },
    });

  const elsewhere = mkdtempSync(join(tmpdir(), 'holdpoint-changes-'));
  const other = await openServerStore(file, elsewhere);
  expect(other.look().changes[0]).toMatchObject({ by: { name: 'unknown' }, detail: { by } });
  rmSync(elsewhere, { recursive: true, force: true });
});
