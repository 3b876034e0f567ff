import type { Worker } from 'node:worker_threads';
import { startThread } from '@holdpoint/process/thread';
import type { Logger } from 'pino';
import * as messages from './messages.ts';

/** The thread of a process for sending telemetry. The thread starts with the first request, and again after its death. */
export interface TelemetryThread {
  /**
   * Sends a request and waits for the answer.
   * @throws the error of the answer; the reason of the signal; an error about the end of the thread
   */
  ask<Output>(name: string, input: unknown, signal?: AbortSignal): Promise<Output>;
  /** Called with the events of the thread. */
  on<Data>(event: string, listen: (data: Data) => void): void;
  /** Is called with how many of a signal no receiver got. */
  onDropped(signal: messages.Dropped['signal'], listen: (items: number, error: Error | undefined) => void): void;
  /** Writes the lines of the thread to this log. Until then they are left out. */
  logTo(logger: Pick<Logger, messages.Line['level']>): void;
  /** Ends the thread, even in the middle of work. The caller has flushed the remaining data before. */
  stop(): Promise<void>;
}

interface Waiting {
  resolve(output: unknown): void;
  reject(error: unknown): void;
}

/** The callers bound the waiting data; this limit bounds the damage of a mistake in the thread. */
const heapMb = 256;

/** Everything between the end of a span and the receiver is the work of this thread, so no receiver can hold up the event loop. */
export function openTelemetryThread(settings: messages.ThreadSettings): TelemetryThread {
  const waiting = new Map<number, Waiting>();
  const listeners = new Map<string, ((data: unknown) => void)[]>();
  let worker: Worker | undefined;
  let lastId = 0;

  const receive = (reply: messages.Reply): void => {
    if ('event' in reply) {
      for (const listen of listeners.get(reply.event) ?? []) listen(reply.data);
      return;
    }
    const asked = waiting.get(reply.id);
    if ('error' in reply) asked?.reject(messages.errorOf(reply.error));
    else asked?.resolve(reply.output);
  };
  const start = (): Worker => {
    const started = startThread<messages.Reply>(new URL('../inside/thread.ts', import.meta.url), {
      ...{ name: 'the thread of the telemetry', data: settings, env: 'inherited', heapMb, youngMb: 16 },
      onMessage: receive,
      onEnd: (error) => {
        if (worker !== started) return;
        worker = undefined;
        for (const { reject } of waiting.values()) reject(error);
      },
    });
    return started;
  };
  const on: TelemetryThread['on'] = (event, listen) => {
    listeners.set(event, [...(listeners.get(event) ?? []), listen as (data: unknown) => void]);
  };

  return {
    on,
    async ask<Output>(name: string, input: unknown, signal?: AbortSignal): Promise<Output> {
      signal?.throwIfAborted();
      worker ??= start();
      const id = ++lastId;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      const cancel = (): void => {
        worker?.postMessage({ canceled: id } satisfies messages.Posted);
        reject(signal?.reason);
      };
      waiting.set(id, { resolve, reject });
      signal?.addEventListener('abort', cancel);
      try {
        worker.postMessage({ id, name, input } satisfies messages.Posted);
        return (await promise) as Output;
      } finally {
        waiting.delete(id);
        signal?.removeEventListener('abort', cancel);
      }
    },
    onDropped(signal, listen) {
      on<messages.Dropped>('dropped', ({ signal: of, items, error }) => {
        if (of === signal) listen(items, error && messages.errorOf(error));
      });
    },
    logTo(logger) {
      on<messages.Line>('line', ({ level, fields: { err, ...fields }, message }) => {
        logger[level](
          { ...fields, ...(err !== undefined && { err: messages.errorOf(err as messages.PlainError) }) },
          message,
        );
      });
    },
    async stop() {
      await worker?.terminate();
    },
  };
}
