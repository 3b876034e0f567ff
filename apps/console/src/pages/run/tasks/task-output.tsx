import type { TaskOutput as Output, Task } from '@holdpoint/contract/wire';
import { useEffect, useState } from 'react';
import { ask } from '../../../api/request.ts';
import { OutputView } from '../../../output/output-view.tsx';
import { Choices } from '../../../parts/choices.tsx';
import { ProblemNote } from '../../../parts/problem-note.tsx';

type Stream = 'stdout' | 'stderr';

/** The output of a background command, as it comes. */
export function TaskOutput({ task }: { task: Task }) {
  const [stream, setStream] = useState<Stream>('stdout');
  const { text, omitted, isOpen, error } = useOutput(task.id, stream);
  const note = omitted > 0 ? `${omitted.toLocaleString('en')} bytes are no longer kept.` : undefined;
  return (
    <div className="stack">
      <Choices
        label="Stream"
        value={stream}
        options={[
          ['stdout', 'Output'],
          ['stderr', 'Errors'],
        ]}
        onChoose={setStream}
      />
      {error !== undefined && <ProblemNote error={error} />}
      <OutputView key={stream} name={`${stream} of the command`} text={text} isGrowing={isOpen} note={note} />
    </div>
  );
}

const none = { text: '', omitted: 0, isOpen: true, error: undefined as unknown };

/**
 * Reads on from the last byte, less often while the command is quiet. No request waits at the server: browsers open six connections to a
 * server, and a page of several commands would keep all of them.
 */
function useOutput(taskId: string, stream: Stream) {
  const [state, setState] = useState(none);
  useEffect(() => {
    const stop = new AbortController();
    setState(none);
    void read(stop.signal).catch((error: unknown) => {
      if (!stop.signal.aborted) setState((now) => ({ ...now, isOpen: false, error }));
    });
    return () => stop.abort();

    async function read(signal: AbortSignal): Promise<void> {
      let cursor = 0;
      for (let pause = shortestPauseMs; ; pause = Math.min(pause * 2, longestPauseMs)) {
        const query = { stream, cursor, max_bytes: 1024 * 1024 };
        const part = await ask<Output>({ path: `/v1/tasks/${taskId}/output`, query, signal });
        const hasMore = part.next_cursor < part.total_bytes;
        const isEnd = !isOpenStatus.has(part.status) && !hasMore;
        if (part.next_cursor > cursor) pause = shortestPauseMs;
        cursor = part.next_cursor;
        setState(({ text, omitted }) => ({
          text: text + tear(part.omitted_bytes) + part.text,
          omitted: omitted + part.omitted_bytes,
          isOpen: !isEnd,
          error: undefined,
        }));
        if (isEnd) return;
        if (!hasMore) await new Promise((resolve) => setTimeout(resolve, pause));
        signal.throwIfAborted();
      }
    }
  }, [taskId, stream]);
  return state;
}

/** The place of bytes that are no longer kept. */
const tear = (bytes: number): string =>
  bytes === 0 ? '' : `\n[… ${bytes.toLocaleString('en')} bytes are no longer kept …]\n`;

const shortestPauseMs = 250;
const longestPauseMs = 2000;

const isOpenStatus = new Set<Output['status']>(['queued', 'running', 'capturing']);
