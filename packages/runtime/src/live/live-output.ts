import { StringDecoder } from 'node:string_decoder';
import type { LiveSource } from '@holdpoint/contract';
import type { Live, LiveText } from './live-hub.ts';

export interface LiveOutput extends Disposable {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

/** What the commands of one call, or one command of `prepare`, print: both streams in the order in which they arrive. Opened by the first byte. */
export function liveOutput(
  live: Live,
  runId: string,
  about: Pick<LiveSource, 'step_id' | 'attempt' | 'tool' | 'prepare'>,
): LiveOutput {
  let text: LiveText | undefined;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  return {
    write(stream, chunk) {
      text ??= live.open(runId, { kind: 'command.output', ...about });
      text.write(decoders[stream].write(chunk));
    },
    [Symbol.dispose]: () => text?.end(),
  };
}
