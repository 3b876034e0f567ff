import { flushCompileCache } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { DiagLogLevel, diag } from '@opentelemetry/api';
import { countSpans } from '../metrics/count-spans.ts';
import { resourceOf } from '../resource.ts';
import * as messages from '../thread/messages.ts';
import { diagTo } from '../traces/diag-to.ts';
import type { Answers, OpenPart, ThreadHost } from './thread-part.ts';

const { service, traces, logs, metrics } = workerData as messages.ThreadSettings;
const post = (reply: messages.Reply): void => parentPort?.postMessage(reply);
const report = (event: string, data: unknown): void => post({ event, data });
const log =
  (level: messages.Line['level']) =>
  (given: object, message: string): void => {
    const fields: Record<string, unknown> = { ...given };
    if (fields.err !== undefined) fields.err = messages.plainError(fields.err);
    report('line', { level, fields, message } satisfies messages.Line);
  };
const logger = { debug: log('debug'), info: log('info'), warn: log('warn'), error: log('error') };
diag.setLogger(diagTo(logger), { logLevel: DiagLogLevel.WARN, suppressOverrideMessage: true });

const resource = resourceOf(service);
const dropped =
  (signal: messages.Dropped['signal']) =>
  (items: number, error: Error | undefined): void =>
    report('dropped', { signal, items, error: error && messages.plainError(error) } satisfies messages.Dropped);
// Signals in the off state do not import their SDK.
const [spans, lines, points] = await Promise.all([
  traces && openSpans(traces),
  logs && openLines(logs),
  metrics && openPoints(metrics),
]);
const host: ThreadHost = { report, logger, take: spans?.take, countSpans };
const answers = new Map<string, Answers[string]>();
const add = (more: Answers): void => {
  for (const [name, answer] of Object.entries(more)) answers.set(name, answer);
};
add({ ...spans, ...lines, ...points });
add({
  /** Loads answers from another package. */
  async load(url: string): Promise<void> {
    const { openPart } = (await import(url)) as { openPart: OpenPart };
    add(openPart(host));
    // The thread is not ended but cut off: the compile cache must be written now. No-op without NODE_COMPILE_CACHE.
    flushCompileCache();
  },
});

async function openSpans(settings: NonNullable<messages.ThreadSettings['traces']>) {
  const { openSpanSender } = await import('../traces/open-span-sender.ts');
  return openSpanSender({ service, resource, onDropped: dropped('spans') }, settings);
}
async function openLines(settings: NonNullable<messages.ThreadSettings['logs']>) {
  const { openLogSender } = await import('../logs/open-log-sender.ts');
  return openLogSender({ service, resource, onDropped: dropped('logs') }, settings);
}
async function openPoints(settings: NonNullable<messages.ThreadSettings['metrics']>) {
  const { openMetricsSender } = await import('../metrics/open-metrics-sender.ts');
  return openMetricsSender({ resource, onDropped: dropped('metrics') }, settings);
}

const waited = new Map<number, AbortController>();
parentPort?.on('message', async (posted: messages.Posted) => {
  if ('canceled' in posted) return waited.get(posted.canceled)?.abort(new Error('no one waits for the answer'));
  const { id, name, input } = posted;
  const canceling = new AbortController();
  waited.set(id, canceling);
  try {
    const answer = answers.get(name);
    if (answer === undefined) throw new Error(`no answer to ${name}`);
    post({ id, output: await answer(input as never, canceling.signal) });
  } catch (error) {
    post({ id, error: messages.plainError(error) });
  } finally {
    waited.delete(id);
  }
});
