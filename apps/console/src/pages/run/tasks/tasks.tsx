import type { TaskOutput as Output, Task } from '@holdpoint/contract/wire';
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useEffect, useState } from 'react';
import { Link } from 'wouter';
import { ask } from '../../../api/request.ts';
import { OutputView } from '../../../output/output-view.tsx';
import { Button } from '../../../parts/button.tsx';
import { Choices } from '../../../parts/choices.tsx';
import { Empty, Loading } from '../../../parts/empty.tsx';
import { Badge, type Tone } from '../../../parts/note.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { spanText } from '../../../parts/time.tsx';
import { useWhyNot } from '../../../session/session.tsx';
import { runPath, type ShownRun } from '../shown-run.ts';

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

/** Background commands and sub-agents of the run. */
export function Tasks({ run }: ShownRun) {
  const { data, error } = useQuery({
    queryKey: ['run', run.id, 'tasks'],
    queryFn: ({ signal }) => ask<{ data: Task[] }>({ path: runPath(run.id, '/tasks'), signal }),
  });
  if (error && data === undefined) return <ProblemNote error={error} />;
  if (data === undefined) return <Loading of="the background tasks" />;
  if (data.data.length === 0) {
    return (
      <Empty icon="runs" title="Nothing runs in the background">
        <p>Background commands and sub-agents of this run appear here.</p>
      </Empty>
    );
  }
  return (
    <ul className="stack" aria-label="Background tasks">
      {data.data.map((task) => (
        <TaskCard key={task.id} task={task} runId={run.id} />
      ))}
    </ul>
  );
}

const looks: Record<Task['status'], [Tone, string]> = {
  queued: ['quiet', 'queued'],
  running: ['info', 'running'],
  capturing: ['info', 'keeping its changes'],
  completed: ['good', 'completed'],
  failed: ['bad', 'failed'],
  killed: ['bad', 'killed'],
  timed_out: ['bad', 'timed out'],
  lost: ['bad', 'lost'],
};
const isOpenTask = ({ status }: Task): boolean => status === 'queued' || status === 'running' || status === 'capturing';

function TaskCard({ task, runId }: { task: Task; runId: string }) {
  const [tone, word] = looks[task.status];
  const [isShown, setShown] = useState(task.kind === 'shell' && isOpenTask(task));
  return (
    <li className="card task-card">
      <div className="spread">
        <h2 className={task.kind === 'shell' ? 'mono one-line' : 'one-line'}>
          <Text most={200}>{task.title}</Text>
        </h2>
        <Badge tone={tone}>{word}</Badge>
      </div>
      <p className="row small muted">
        <span>{task.kind === 'shell' ? 'background command' : 'sub-agent'}</span>
        {task.duration_ms !== null && <span className="numbers">{spanText(task.duration_ms)}</span>}
        {task.exit_code !== null && <span className="numbers">exit code {task.exit_code}</span>}
        <Link href={`/runs/${runId}/steps/${task.step_id}`}>started by a step</Link>
        {task.child !== null && <Link href={`/runs/${task.child.run_id}`}>its run</Link>}
      </p>
      {task.reason !== null && (
        <p className="small">
          <Text>{task.reason.message}</Text>
        </p>
      )}
      {task.message !== null && (
        <p className="said-text">
          <Text most={2000}>{task.message}</Text>
        </p>
      )}
      <div className="row">
        {task.kind === 'shell' && (
          <Button slim aria-expanded={isShown} onClick={() => setShown(!isShown)}>
            {isShown ? 'Hide the output' : 'Show the output'}
          </Button>
        )}
        {isOpenTask(task) && <Kill task={task} runId={runId} />}
      </div>
      {isShown && <TaskOutput task={task} />}
    </li>
  );
}

function Kill({ task, runId }: { task: Task; runId: string }) {
  const queries = useQueryClient();
  const whyNot = useWhyNot('runs:write');
  const kill = useMutation({
    mutationFn: () => ask<Task>({ method: 'POST', path: `/v1/tasks/${task.id}/kill` }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['run', runId, 'tasks'] }),
  });
  return (
    <>
      <Button slim kind="danger" whyNot={kill.isPending ? 'Being sent' : whyNot} onClick={() => kill.mutate()}>
        {task.kind === 'shell' ? 'Kill' : 'Cancel'}
      </Button>
      {kill.error && <ProblemNote error={kill.error} />}
    </>
  );
}
