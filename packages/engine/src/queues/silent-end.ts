import { type RedisClient, RedisQueueBackend } from 'bullmq';
import { moveToFinished } from 'bullmq/dist/esm/scripts/moveToFinished-14.js';
import type { Redis } from 'ioredis';

const command = 'moveToFinishedSilently';
/** In the function that takes a job. The function that promotes due delayed jobs calls it with other arguments. */
const wakeForTaken = 'addBaseMarkerIfNeeded(markerKey, false)';
const around = moveToFinished.content.split(wakeForTaken);
if (around.length !== 2)
  throw new TypeError('the script of BullMQ that ends a job is not the one that this was written for');

/**
 * Ends jobs with BullMQ's own script, less the wake-up that it sends when it takes the next job: each other job that waits had one when it was
 * added. Due delayed jobs had none, so the end that promotes them still wakes a worker.
 */
export class SilentEndBackend extends RedisQueueBackend {
  override execCommand(client: RedisClient, name: string, args: unknown[]): unknown {
    return name === 'moveToFinished' ? client.runCommand(command, args) : super.execCommand(client, name, args);
  }
}

export function defineSilentEnd(redis: Redis): void {
  if (command in redis) return;
  redis.defineCommand(command, { numberOfKeys: moveToFinished.keys, lua: around.join('') });
}
