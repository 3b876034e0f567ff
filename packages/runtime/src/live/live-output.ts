import { StringDecoder } from 'node:string_decoder';
import type { Live, LiveText } from './live-hub.ts';

interface About {
  runId: string;
  stepId: string;
  attempt: number;
  tool: string;
}

export interface LiveOutput extends Disposable {
  write(stream: 'stdout' | 'stderr', chunk: Buffer): void;
}

/** What the commands of one call print, both streams in the order in which they arrive. Opened by the first byte. */
export function liveOutput(live: Live, { runId, stepId, attempt, tool }: About): LiveOutput {
  let text: LiveText | undefined;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  return {
    write(stream, chunk) {
      text ??= live.open(runId, { kind: 'command.output', step_id: stepId, attempt, tool });
      text.write(decoders[stream].write(chunk));
    },
    [Symbol.dispose]: () => text?.end(),
  };
}
