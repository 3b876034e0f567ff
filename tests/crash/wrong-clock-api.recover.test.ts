import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { approve, bash, finished, nextApproval, plan, until, useSystem } from '../harness/index.ts';

const system = useSystem();
const preload = new URL('../chaos/faults/shift-clock.ts', import.meta.url).href;
const hour = 3_600_000;
/** The first 48 bits of a UUIDv7 are milliseconds. */
const timeIn = (id: string): number => Number.parseInt(id.replaceAll('-', '').slice(4, 16), 16);

test.each([3 * hour, -3 * hour])(
  'an API whose clock is off by %i ms decides nothing early, refuses no valid key, and makes ids by the clock of Redis',
  async (shift) => {
    const { client: right } = system;
    const clock = join(system.directory, `clock${shift}`);
    writeFileSync(clock, String(shift));
    const other = await system.startOtherApi({ CHAOS_CLOCK: clock }, preload);
    const wrong = other.client;
    const rules = [{ match: { tool: 'bash' }, action: 'hold' as const }];
    const body = { plan: plan([bash('echo made > made')]), policy: { rules, approval_timeout_s: 600 } };
    const idempotencyKey = `clock ${shift}`;
    const { run } = await wrong.createRun(body, { idempotencyKey });
    expect((await right.createRun(body, { idempotencyKey })).run.id).toBe(run.id);
    expect(Math.abs(timeIn(run.id) - Date.parse(run.created_at))).toBeLessThan(60_000);
    expect(Math.abs(Date.parse(run.created_at) - Date.now())).toBeLessThan(60_000);

    const asked = await nextApproval(right, run.id);
    // "Approve what has waited for an hour" must not reach what was just asked.
    expect((await wrong.listApprovals({ run_id: run.id, older_than_s: 3600 })).data).toEqual([]);
    const decided = await wrong.decideApprovals({
      decision: 'approve',
      filter: { run_id: run.id, older_than_s: 3600 },
      seen: [asked.action_digest],
    });
    expect(decided).toEqual([]);
    await pause(1100);
    expect((await wrong.listApprovals({ run_id: run.id, older_than_s: 1 })).data.map(({ id }) => id)).toEqual([
      asked.id,
    ]);

    const name = `ann${shift}`;
    const expires_at = new Date(Date.now() + hour).toISOString();
    const scopes = ['runs:read' as const, 'approvals:decide' as const];
    const { key } = await wrong.createKey({ name, kind: 'person', scopes, expires_at });
    const ann = system.as(key);
    expect((await ann.getRun(run.id)).id).toBe(run.id);
    await ann.close();
    // The key is found, and its holder needs no delegation.
    await expect(wrong.delegateApproval(asked.id, { to: name })).rejects.toThrow(/may decide already/);

    // The clock jumps to the right time and back while the step is parked.
    for (const ms of [0, shift]) {
      writeFileSync(clock, String(ms));
      await pause(300);
      expect(await wrong.getRun(run.id)).toMatchObject({ status: 'waiting', pending_approvals: 1 });
    }
    await approve(wrong, await wrong.getApproval(asked.id));
    expect(await finished(right, run.id)).toMatchObject({ status: 'succeeded' });
    const { data } = await right.listEvents(run.id, { limit: 500 });
    const times = data.map(({ time }) => Date.parse(time));
    // Two processes follow the clock of Redis.
    for (const [at, time] of times.entries()) expect(time).toBeGreaterThan((times[at - 1] ?? 0) - 1000);
    expect(data.filter(({ type }) => type === 'run.repaired')).toEqual([]);
    await other.signal('SIGKILL');
    await until('the other API is gone', () => !other.isAlive());
  },
);
