import type { Redis } from 'ioredis';
import { fold } from '../../events/fold.ts';
import { logKey, runOfKey, stateKey } from '../../log/keys.ts';
import { readWholeLog } from '../../log/read-log.ts';

/** Makes the state of every run again from its log. */
export async function refold({ redis }: { redis: Redis }): Promise<void> {
  for await (const runId of runsWithLog(redis)) {
    const state = fold(await Array.fromAsync(readWholeLog(redis, runId)));
    const writes = redis.multi().del(stateKey(runId));
    const fields = Object.entries(state);
    for (let at = 0; at < fields.length; at += fieldsAtOnce) {
      writes.hset(stateKey(runId), ...fields.slice(at, at + fieldsAtOnce).flat());
    }
    const replies = await writes.exec();
    for (const [error] of replies ?? []) if (error) throw error;
  }
}

const fieldsAtOnce = 1000;

/** Every run with a log, listed in an index or not. */
async function* runsWithLog(redis: Redis): AsyncGenerator<string> {
  for await (const keys of redis.scanStream({ match: logKey('run_*'), count: 1000 })) {
    for (const key of new Set(keys as string[])) yield runOfKey(key);
  }
}
