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
  const note = omitted > 0 ? `${omitted.toLocaleString('en')} bytes in the middle are no longer kept.` : undefined;
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

/** Reads on from the last byte. Each request waits at the server for more output, so a quiet command costs nothing. */
function useOutput(taskId: string, stream: Stream) {
  const [state, setState] = useState(none);
  useEffect(() => {
    const stop = new AbortController();
    setState(none);
    void read(stop.signal);
    return () => stop.abort();

    async function read(signal: AbortSignal): Promise<void> {
      let cursor = 0;
      try {
        for (;;) {
          const query = { stream, cursor, wait_s: 30, max_bytes: 1024 * 1024 };
          const part = await ask<Output>({ path: `/v1/tasks/${taskId}/output`, query, signal });
          const isEnd = !isOpenStatus.has(part.status) && part.next_cursor >= part.total_bytes;
          cursor = part.next_cursor;
          setState(({ text, omitted }) => ({
            text: text + part.text,
            omitted: omitted + part.omitted_bytes,
            isOpen: !isEnd,
            error: undefined,
          }));
          if (isEnd) return;
        }
      } catch (error) {
        if (!signal.aborted) setState((now) => ({ ...now, isOpen: false, error }));
      }
    }
  }, [taskId, stream]);
  return state;
}

const isOpenStatus = new Set<Output['status']>(['queued', 'running', 'capturing']);
