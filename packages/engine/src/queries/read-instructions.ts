import type { EngineDeps } from '../deps.ts';
import { fromPayload, readLog } from '../log/index.ts';
import type { WrittenInstructions } from '../ports/index.ts';

const eventsAtOnce = 500;

/** The instructions of a run's model, as recorded; undefined when none were written: the run has no model, or has not asked it yet. */
export async function readInstructions(
  { redis, blobs }: Pick<EngineDeps, 'redis' | 'blobs'>,
  runId: string,
): Promise<WrittenInstructions | undefined> {
  for (let after = 0; ; ) {
    const events = await readLog(redis, runId, { after, limit: eventsAtOnce });
    for (const event of events) {
      if (event.type !== 'context.instructed') continue;
      const { system, ...data } = event.data;
      return { ...data, system: String(await fromPayload(blobs, system)) };
    }
    const last = events.at(-1);
    if (last === undefined || events.length < eventsAtOnce) return undefined;
    after = last.seq;
  }
}
