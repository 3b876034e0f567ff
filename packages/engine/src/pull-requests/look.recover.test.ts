import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Died, deliverAll, dyingAt, sweepOnce } from '../testing/index.ts';
import { soundLog } from '../testing/sound-log.ts';
import { useTestEngine } from '../testing/use-test-engine.ts';
import { pullLockKey } from './store.ts';
import { person } from './testing/code-host.ts';
import { followedRun } from './testing/followed-run.ts';

const engine = useTestEngine();
/** Between the commands at which a process dies: every one of them in `npm run test:crash`. */
const stride = process.env.HOLDPOINT_CRASH === 'full' ? 1 : 4;
const unlessDied = (error: unknown): void => {
  if (!(error instanceof Died)) throw error;
};

type Followed = Awaited<ReturnType<typeof followedRun>>;

/** Other processes look until the pull request is at rest, and the run works on what it heard. */
async function settle(followed: Followed): Promise<void> {
  for (let round = 0; round < 3; round++) {
    // Longer than a process is missed that died with the pull request.
    await Promise.all([followed.look('first'), followed.look('second')]);
    await delay(25);
    await Promise.all([followed.look('first'), followed.look('second')]);
    await sweepOnce({ ...followed.deps, now: () => followed.deps.now() + 6000 });
    await deliverAll(followed.deps);
  }
}

/** Two comments reach the run, and the next publish answers them. */
async function assertTold(followed: Followed, hint: unknown): Promise<void> {
  const texts = (await followed.messages()).map(({ text }) => text);
  for (const id of ['1', '2', '3'])
    expect([hint, id, texts.filter((text) => text.includes(`comment ${id}`)).length]).toEqual([hint, id, 1]);
  expect([hint, (await followed.run()).status]).toEqual([hint, 'succeeded']);
  await soundLog(followed.deps, followed.runId);
}

const answered = ({ host }: Followed) => host.answers.map(({ to }) => to.id).toSorted();

test.each(['before', 'after'] as const)(
  'a process that dies %s any one command to Redis loses no comment, and passes on and answers each once',
  async (when) => {
    let faulted = true;
    for (let command = 1; faulted; command += stride) {
      const followed = await followedRun(engine);
      const { host, look, publish } = followed;
      host.comment('1');
      host.comment('2');
      host.comment('stranger', person('eve'));
      const dying = dyingAt(followed.deps, command, when);
      await look(dying.deps).catch(unlessDied);
      host.comment('3');
      await settle(followed);
      await assertTold(followed, command);
      const second = dyingAt(followed.deps, command, when);
      await publish('d'.repeat(40), 5, second.deps).catch(unlessDied);
      if (second.died()) await publish('d'.repeat(40), 5);
      const third = dyingAt(followed.deps, command, when);
      await look(third.deps).catch(unlessDied);
      faulted = dying.died() || third.died();
      await settle(followed);
      expect([command, answered(followed)]).toEqual([command, ['1', '2', '3']]);
      expect(await followed.state()).toMatchObject({ heard: [], answers: [], rounds: expect.any(Number) });
    }
  },
  240_000,
);

test.each(['before', 'after'] as const)(
  'a process that dies %s any one request to the code host passes on and answers each comment once',
  async (when) => {
    let faulted = true;
    let request = 1;
    for (; faulted; request++) {
      const followed = await followedRun(engine);
      const { host, look, publish } = followed;
      for (const id of ['1', '2', '3']) host.comment(id);
      const die = () => {
        let sent = 0;
        let isDead = false;
        host.around = async (_, send) => {
          sent += 1;
          if (isDead || (sent === request && when === 'before')) isDead = true;
          if (isDead) throw new Died();
          const result = await send();
          if (sent === request) isDead = true;
          if (isDead) throw new Died();
          return result;
        };
        // A dead process writes nothing: its commands fail as well.
        const redis = new Proxy(followed.deps.redis, {
          get: (object, key) => {
            const value: unknown = Reflect.get(object, key);
            if (typeof value !== 'function') return value;
            return async (...args: unknown[]) => {
              if (isDead) throw new Died();
              return Reflect.apply(value, object, args);
            };
          },
        });
        return { deps: { ...followed.deps, redis }, died: () => isDead };
      };
      const live = async (by: () => Promise<void>): Promise<boolean> => {
        const dying = die();
        await look(dying.deps).catch(unlessDied);
        host.around = async (_, send) => send();
        await by();
        return dying.died();
      };
      const first = await live(() => settle(followed));
      await assertTold(followed, request);
      await publish('d'.repeat(40));
      const second = await live(() => settle(followed));
      faulted = first || second;
      expect([request, answered(followed)]).toEqual([request, ['1', '2', '3']]);
    }
    expect(request).toBeGreaterThan(6);
  },
  240_000,
);

test('a message that was sent before its process died is answered by the next publish', async () => {
  const followed = await followedRun(engine);
  followed.host.comment('1');
  const state = async () => (await followed.state())?.sending;
  // The message is in the log, and the record does not know it yet.
  for (let command = 1; ; command++) {
    const { deps, died } = dyingAt(followed.deps, command, 'after');
    await followed.look(deps).catch(unlessDied);
    if (!died()) throw new Error('no command was the last one before the message');
    if ((await followed.messages()).length > 0) break;
    await followed.deps.redis.del(pullLockKey(followed.runId));
  }
  expect(await state()).toBeDefined();
  await deliverAll(followed.deps);
  await followed.publish('d'.repeat(40));
  await settle(followed);
  expect(answered(followed)).toEqual(['1']);
  expect(await followed.messages()).toHaveLength(1);
});

test('six processes that look at once pass on and answer each comment once', async () => {
  const followed = await followedRun(engine);
  for (const id of ['1', '2', '3']) followed.host.comment(id);
  await Promise.all(Array.from({ length: 6 }, () => followed.look(followed.deps)));
  await settle(followed);
  await assertTold(followed, 'race');
  await followed.publish('d'.repeat(40));
  await Promise.all(Array.from({ length: 6 }, () => followed.look(followed.deps)));
  await settle(followed);
  expect(answered(followed)).toEqual(['1', '2', '3']);
});
