import { StringDecoder } from 'node:string_decoder';
import type { Live, LiveText } from './live-hub.ts';

interface About {
  runId: string;
  stepId: string;
  attempt: number;
  tool: string;
}

/** What the commands of one call print, both streams in the order in which they arrive. Opened by the first byte. */
export function liveOutput(live: Live, { runId, stepId, attempt, tool }: About) {
  let text: LiveText | undefined;
  const decoders = { stdout: new StringDecoder('utf8'), stderr: new StringDecoder('utf8') };
  return {
    write(stream: 'stdout' | 'stderr', chunk: Buffer): void {
      text ??= live.open(runId, { kind: 'command.output', step_id: stepId, attempt, tool });
      text.write(decoders[stream].write(chunk));
    },
    end(): void {
      text?.end();
    },
  };
}
