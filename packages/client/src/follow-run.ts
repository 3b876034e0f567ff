import { type LiveFrame, liveFrameSchema } from '@holdpoint/contract';
import { endOfStream, liveEvent, type RunEvent, runEventSchema } from '@holdpoint/contract/wire';
import { read, type Transport } from './request.ts';
import { follow, type Reconnecting } from './stream.ts';

/** A piece of a model's answer or a command's output, sent while the model writes or the command runs. */
export interface LiveText extends LiveFrame {
  type: 'live';
}

interface Following extends Reconnecting {
  path: string;
  /** The sequence number of the last known event. */
  after: number;
}

/** The events of a run, each once and in order, past lost connections, up to the last event. */
export async function* followRun(transport: Transport, following: Following): AsyncGenerator<RunEvent> {
  for await (const event of followAll(transport, following)) if (event.type !== 'live') yield event;
}

/** The events of a run, with the live text between the events. */
export const followLive = (transport: Transport, { path, ...following }: Following) =>
  followAll(transport, { path: `${path}?live=true`, ...following });

async function* followAll(
  transport: Transport,
  { path, after, ...reconnecting }: Following,
): AsyncGenerator<RunEvent | LiveText> {
  let seen = after;
  const requestFor = () => ({ path, headers: { 'last-event-id': String(seen) } });
  for await (const { event, data } of follow(transport, requestFor, reconnecting)) {
    if (event === endOfStream) return;
    if (event === '') continue;
    if (event === liveEvent) {
      yield { type: 'live', ...read(liveFrameSchema, data, 200) };
      continue;
    }
    const next = read(runEventSchema, data, 200);
    if (next.seq <= seen) continue;
    seen = next.seq;
    yield next;
  }
}
