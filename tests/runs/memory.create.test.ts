import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { finished, published, useModelSystem } from '../harness/index.ts';

const { mock, system } = useModelSystem();
const note = 'Tests need make db first.';
const remember = { id: 'call_1', name: 'remember', arguments: JSON.stringify({ note }) };

/** The last request to the model with these words. */
const requestWith = (text: string): string => {
  const bodies = mock.getRequests().map(({ body }) => JSON.stringify(body));
  return bodies.findLast((body) => body.includes(text)) ?? '';
};

test('a note of one run reaches the next run once a person has published it, and only a run that asks', async () => {
  const { client } = system;
  const path = await system.directoryWith({ 'a.txt': 'a\n' });
  const workspace = { source: { type: 'directory' as const, path } };
  const context = { memory: true };
  mock.on({ userMessage: 'learn it', turnIndex: 0 }, { content: 'A note.', toolCalls: [remember] });
  mock.on({ userMessage: 'learn it', turnIndex: 1 }, { content: 'Learned.' });
  const first = await client.createRun({ prompt: 'learn it', workspace, context });
  expect(await finished(client, first.run.id)).toMatchObject({ status: 'succeeded' });
  expect(requestWith('learn it')).toContain('There are no notes of earlier runs');

  // No person has accepted the note yet.
  mock.on({ userMessage: 'before' }, { content: 'Done.' });
  const before = await client.createRun({ prompt: 'before', workspace, context });
  await finished(client, before.run.id);
  expect(requestWith('before')).not.toContain(note);

  expect(JSON.stringify(await client.diffStat(first.run.id))).toContain('.holdpoint/notes.md');
  await client.publish(first.run.id);
  await published(client, first.run.id);
  expect(readFileSync(join(path, '.holdpoint/notes.md'), 'utf8')).toContain(`, ${first.run.id}: ${note}\n`);

  mock.on({ userMessage: 'after' }, { content: 'Done.' });
  const after = await client.createRun({ prompt: 'after', workspace, context });
  await finished(client, after.run.id);
  expect(requestWith('after')).toContain(`${first.run.id}: ${note}`);
  expect(requestWith('after')).toContain('"remember"');

  mock.on({ userMessage: 'without' }, { content: 'Done.' });
  const without = await client.createRun({ prompt: 'without', workspace });
  await finished(client, without.run.id);
  expect(requestWith('without')).not.toContain(note);
  expect(requestWith('without')).not.toContain('"remember"');
  expect(existsSync(join(path, 'a.txt'))).toBe(true);
});
