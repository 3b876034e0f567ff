import { type RedisClient, RedisQueueBackend } from 'bullmq';
import { moveToFinished } from 'bullmq/dist/esm/scripts/moveToFinished-14.js';
import type { Redis } from 'ioredis';

const command = 'moveToFinishedSilently';
/** Found in BullMQ's function for taking a job. The function for promoting due delayed jobs calls the same helper with other arguments. */
const wakeForTaken = 'addBaseMarkerIfNeeded(markerKey, false)';
const around = moveToFinished.content.split(wakeForTaken);
if (around.length !== 2)
  throw new TypeError('the script of BullMQ that ends a job is not the one that this was written for');

/**
 * Ends jobs with BullMQ's own script, without the wake-up sent when the end takes the next job: each other waiting job had its wake-up when
 * added. Due delayed jobs had none, so an end that promotes delayed jobs still wakes a worker.
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
