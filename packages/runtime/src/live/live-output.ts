import { StringDecoder } from 'node:string_decoder';
import type { LiveSource } from '@holdpoint/contract';
import type { Live, LiveText } from './live-hub.ts';

export interface LiveOutput extends Disposable {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

/**
 * Output of the commands of a call, or of a command of `prepare`: both streams in the order of arrival. The first byte opens the live text.
 */
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
