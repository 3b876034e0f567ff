import type { AgentProcess } from '@holdpoint/outside-agents';
import { afterEach, expect, test } from 'vitest';
import { RunningAgents } from './running-agents.ts';

/** The part of an agent that counts here. */
function agentIn(state: string, isWaiting = true) {
  let resolve = () => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  let isEnded = false;
  const end = () => {
    isEnded = true;
    resolve();
    return ended;
  };
  const agent = { state, isWaiting, lastAt: performance.now(), ended, end } as unknown as AgentProcess;
  return { agent, isEnded: () => isEnded };
}

let open: RunningAgents | undefined;
afterEach(async () => open?.close());
const running = (most = 8) => {
  open = new RunningAgents({ most, idleMs: 60_000, isAtRest: async () => false });
  return open;
};

test('an agent continues only in the state that the log has: another worker may have continued the run', async () => {
  const agents = running();
  const { agent, isEnded } = agentIn('one');
  agents.keep('run', agent);
  expect(await agents.take('run', 'one')).toBe(agent);
  expect(await agents.take('run', 'one')).toBeUndefined();
  agents.keep('run', agent);
  expect(await agents.take('run', 'two')).toBeUndefined();
  expect(isEnded()).toBe(true);
});

test('an agent that ended while it waited is not taken', async () => {
  const agents = running();
  const { agent, isEnded } = agentIn('one', false);
  agents.keep('run', agent);
  expect(await agents.take('run', 'one')).toBeUndefined();
  expect(isEnded()).toBe(true);
});

test('above the limit the agent that waits longest ends', async () => {
  const agents = running(2);
  const three = ['a', 'b', 'c'].map((run) => ({ run, ...agentIn('one') }));
  for (const { run, agent } of three) agents.keep(run, agent);
  expect(three.map(({ isEnded }) => isEnded())).toEqual([true, false, false]);
});
