import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { Client } from '@holdpoint/client';
import type { Approval } from '@holdpoint/contract/wire';
import { expect, test } from 'vitest';
import { openModelServer, startSystem, until } from '../harness/index.ts';

const window = 200_000;
const turns = 400;
const kills = 20;

/** Facts that people and files tell on the way; each must be in the last request. */
const facts = Array.from({ length: 20 }, (_, number) => `fact number ${number} is ${number * 7919} "as said"`);
const fact = (number: number): string => facts[number] ?? '';
/** How a fact stands in a request, where it may be quoted more than once. */
const marks = facts.map((text) => text.slice(0, text.indexOf(' "')));

/** What the model does in a turn that is not just work. */
const special: Record<number, { tool: string; args: object }> = {
  12: { tool: 'todo_write', args: { todos: [{ content: fact(2), status: 'in_progress' }] } },
  ...Object.fromEntries(
    [30, 90, 150, 210].map((turn) => [turn, { tool: 'ask_user', args: { question: `q ${turn}` } }]),
  ),
  ...Object.fromEntries([45, 250].map((turn) => [turn, { tool: 'bash', args: { command: `touch held-${turn}` } }])),
  ...Object.fromEntries([70, 300].map((turn) => [turn, { tool: 'bash', args: { command: `touch edited-${turn}` } }])),
};
const messagesAt = [5, 20, 60, 110, 160, 220, 280, 310];

/** 64 KB of output, and a trace of each call. */
const work = (turn: number) => ({
  tool: 'bash',
  args: { command: `echo ${turn} >> counter; yes "line ${turn} of the output" | head -c 70000` },
});

test('400 turns of 64 KB in a window of 200,000 tokens, killed 20 times: nothing that was said is lost', async () => {
  let [refused, begun, last] = [0, 0, ''];
  const said = new Set<number>();
  let runId = '';
  let say = (_text: string): void => {};
  await using server = await openModelServer(({ body }) => {
    const read = Math.ceil(Buffer.byteLength(body) / 4);
    if (read > window) {
      refused += 1;
      return { refusal: 400, words: `This model's maximum context length is ${window} tokens, but it got ${read}.` };
    }
    const done = Math.max(0, ...[...body.matchAll(/I begin item (\d+)\./g)].map(([, turn]) => Number(turn)));
    if (body.includes('Write the notes now.')) return { text: `Notes. I begin item ${done}.`, read };
    const turn = done + 1;
    begun = Math.max(begun, done);
    if (messagesAt.includes(turn) && !said.has(turn)) {
      said.add(turn);
      say(fact(4 + messagesAt.indexOf(turn)));
    }
    last = body;
    if (turn > turns) return { text: 'All items are done.', read };
    return { text: `I begin item ${turn}.`, calls: [special[turn] ?? work(turn)], read };
  });
  await using system = await startSystem(
    { OPENAI_COMPATIBLE_BASE_URL: server.url, HOLDPOINT_INSTRUCTIONS: `The operator says: ${fact(0)}` },
    { HOLDPOINT_LOCK_MS: '1500', HOLDPOINT_STALLED_MS: '500', HOLDPOINT_SWEEP_MS: '500', HOLDPOINT_DRAIN_MS: '500' },
  );
  const { client } = system;
  const path = await system.directoryWith({ 'AGENTS.md': `${fact(1)}\n`, 'lib/CLAUDE.md': `${fact(3)}\n` });
  const workers = [system.startWorker(), system.startWorker()];
  const held = { match: { args: { '/command': { glob: 'touch *' } } }, action: 'hold' as const };
  const { run } = await client.createRun({
    prompt: 'Do all items, one after the other.',
    model: 'openai-compatible/counting',
    workspace: { source: { type: 'directory', path } },
    policy: { rules: [held, { match: { tool: 'bash' }, action: 'allow' }] },
    limits: { max_turns: 1000 },
  });
  runId = run.id;
  const sent: Promise<unknown>[] = [];
  say = (text) => void sent.push(client.sendMessage(runId, text));
  const over = new AbortController();
  const people = decideAll(client, runId, over.signal);
  for (let kill = 1; kill <= kills; kill++) {
    const at = Math.floor((kill - Math.random()) * (turns / (kills + 1)));
    await until(`item ${at} is begun`, () => begun >= at, { withinMs: 120_000 });
    const victim = Math.random() < 0.5 ? 0 : 1;
    await (await workers[victim])?.signal('SIGKILL');
    workers[victim] = system.startWorker();
  }
  const ended = await client.waitForRun(runId, { signal: AbortSignal.timeout(240_000) });
  over.abort();
  await Promise.all([people, ...workers]);
  await Promise.all(sent);
  expect(ended).toMatchObject({ status: 'succeeded', message: 'All items are done.', turn: turns + 1 });
  expect(marks.filter((mark) => !last.includes(mark))).toEqual([]);
  expect(last).toContain('Do all items, one after the other.');
  // The first refusal shows the window. What follows is measured by what the provider counted, so hardly another is refused.
  expect(refused).toBeLessThanOrEqual(3);
  expect(ended.context?.compactions).toBeGreaterThan(10);
  const lines = (await readFile(join(system.tree(runId), 'counter'), 'utf8')).trim().split('\n').map(Number);
  expect(lines).toEqual(Array.from({ length: turns }, (_, at) => at + 1).filter((turn) => special[turn] === undefined));
}, 600_000);

/** A person who decides everything that the run asks. */
async function decideAll(client: Client, runId: string, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    for (const approval of (await client.listApprovals({ run_id: runId })).data) {
      await client.decideApproval(approval.id, { ...decisionOn(approval), action_digest: approval.action_digest });
    }
    await setTimeout(100);
  }
}

/** What a person does about a call: answers, rejects with words, or changes it with words. */
function decisionOn({ action }: Approval): {
  decision: 'respond' | 'reject' | 'edit';
  message: string;
  args?: Record<string, string>;
} {
  const text = JSON.stringify(action.args);
  const turn = Number(/(\d+)/.exec(text)?.[1]);
  if (text.includes('question')) return { decision: 'respond', message: fact(12 + [30, 90, 150, 210].indexOf(turn)) };
  if (text.includes('held-')) return { decision: 'reject', message: fact(turn === 45 ? 16 : 17) };
  return { decision: 'edit', message: fact(turn === 70 ? 18 : 19), args: { command: 'true' } };
}
