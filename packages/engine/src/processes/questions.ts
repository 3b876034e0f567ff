import { randomUUID } from 'node:crypto';
import { setTimeout } from 'node:timers/promises';
import type { Redis } from 'ioredis';
import { z } from 'zod';
import { answerKey, questionChannel, questionKey } from '../log/keys.ts';
import type { Logger } from '../ports/index.ts';

const questionSchema = z.strictObject({ about: z.string(), body: z.json() });
type Question = z.infer<typeof questionSchema>;

const lookEveryMs = 50;
/** Seconds that Redis keeps an answer that nothing reads. */
const keptS = 60;

/**
 * Asks any running worker a question that changes nothing, such as the tools of an outside server: when the worker dies, the question is lost.
 * @returns the answer; undefined: no worker runs, or none answered in time
 */
export async function askWorker(
  redis: Redis,
  question: Question,
  { timeoutMs, signal }: { timeoutMs: number; signal?: AbortSignal },
): Promise<unknown> {
  const id = randomUUID();
  await redis.set(questionKey(id), JSON.stringify(question), 'PX', timeoutMs);
  if ((await redis.publish(questionChannel, id)) === 0) {
    await redis.del(questionKey(id));
    return undefined;
  }
  const last = performance.now() + timeoutMs;
  while (performance.now() < last) {
    signal?.throwIfAborted();
    const answer = await redis.getdel(answerKey(id));
    if (answer !== null) return JSON.parse(answer);
    await setTimeout(lookEveryMs);
  }
  return undefined;
}

/** Answers questions in this worker, each in one worker. @param answer throws only for a defect: then the question has no answer */
export async function answerQuestions(
  { redis, subscriber, logger }: { redis: Redis; subscriber: Redis; logger: Logger },
  answers: Readonly<Record<string, (body: unknown) => Promise<unknown>>>,
): Promise<{ stop(): void }> {
  const take = async (id: string): Promise<void> => {
    const text = await redis.getdel(questionKey(id));
    if (text === null) return;
    const { about, body } = questionSchema.parse(JSON.parse(text));
    const answer = Object.hasOwn(answers, about) ? await answers[about]?.(body) : undefined;
    if (answer !== undefined) await redis.set(answerKey(id), JSON.stringify(answer), 'EX', keptS);
  };
  const onMessage = (channel: string, id: string): void => {
    if (channel !== questionChannel) return;
    take(id).catch((err: unknown) => logger.warn({ event: 'question_failed', err }, 'a question has no answer'));
  };
  subscriber.on('message', onMessage);
  await subscriber.subscribe(questionChannel);
  return { stop: () => void subscriber.off('message', onMessage) };
}
