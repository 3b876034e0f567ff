import { expect, test } from 'vitest';
import { countingModel } from '../../testing/counting-model.ts';
import { plannedRun } from '../../testing/planned-run.ts';

test('the instructions and all earlier messages stay the same over 60 turns, with files of the repository', async () => {
  const model = countingModel({
    window: 1_000_000,
    answer: ({ messages }) => ({
      text: '',
      calls: [{ id: `call_${messages.length}`, tool: 'read_file', args: { path: `src/${messages.length}.ts` } }],
    }),
  });
  const files: Record<string, string> = {
    'AGENTS.md': 'Use tabs. @docs/style.md',
    'docs/style.md': 'Short functions.',
    'skills/release/SKILL.md': '---\nname: release\ndescription: How to release\n---\nRun it.',
    'src/a.ts': 'x',
  };
  const run = plannedRun({
    ...{ model, files },
    settle: (_, turn) => {
      // The repository changes while the run works.
      files['AGENTS.md'] = `Changed in turn ${turn}.`;
      files[`src/${turn}.ts`] = 'new';
      return { status: 'succeeded', native: { content: `turn ${turn}` } };
    },
  });
  await run.run(60);
  const requests = model.requests.map((text) => JSON.parse(text) as { system: string; messages: unknown[] });
  expect(requests).toHaveLength(60);
  expect(new Set(requests.map(({ system }) => system)).size).toBe(1);
  expect(requests[0]?.system).toContain('Short functions.');
  expect(requests[0]?.system).toContain('"release" in skills/release/SKILL.md');
  for (const [turn, { messages }] of requests.entries()) {
    const before = requests[turn - 1]?.messages ?? [];
    expect(JSON.stringify(messages).startsWith(JSON.stringify(before).slice(0, -1))).toBe(true);
  }
});
