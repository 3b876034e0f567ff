import type { Page, Turn } from '@holdpoint/contract/wire';
import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from 'wouter';
import { ask } from '../../../api/request.ts';
import { Button } from '../../../parts/button.tsx';
import { Empty, Loading } from '../../../parts/empty.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { Ago } from '../../../parts/time.tsx';
import { useLiveTexts } from '../live-texts.ts';
import { runPath, type ShownRun, useFollowedRun } from '../shown-run.ts';

/** What people and the model said, oldest first, and what the model writes now. */
export function Conversation({ run }: ShownRun) {
  const turns = useInfiniteQuery({
    queryKey: ['run', run.id, 'turns'],
    queryFn: ({ signal, pageParam }) =>
      ask<Page<Turn>>({
        path: runPath(run.id, '/turns'),
        query: { limit: 50, order: 'desc', cursor: pageParam },
        signal,
      }),
    initialPageParam: undefined as string | undefined,
    getNextPageParam: (page) => page.next_cursor ?? undefined,
  });
  const all = (turns.data?.pages ?? []).flatMap((page) => page.data).toReversed();
  const last = all.at(-1)?.turn ?? 0;
  const live = useLiveTexts(useFollowedRun()).filter((text) => (text.turn ?? 0) > last);
  if (turns.error && all.length === 0) return <ProblemNote error={turns.error} />;
  if (turns.isPending) return <Loading of="the conversation" />;
  const { prompt } = run.request;
  if (all.length === 0 && prompt === null && live.length === 0) {
    return (
      <Empty icon="info" title="Nothing was said yet">
        <p>A run of a plan has no conversation: its steps are on the timeline.</p>
      </Empty>
    );
  }
  return (
    <ol className="conversation" aria-label="Conversation">
      {prompt !== null && (
        <Said by={run.created_by ?? 'the caller'} what="prompt" kind="person">
          {prompt}
        </Said>
      )}
      {turns.hasNextPage && (
        <li>
          <Button
            slim
            whyNot={turns.isFetchingNextPage ? 'Being read' : undefined}
            onClick={() => void turns.fetchNextPage()}
          >
            Earlier turns
          </Button>
        </li>
      )}
      {all.map((turn) => (
        <TurnSaid key={`${turn.seq}`} turn={turn} runId={run.id} />
      ))}
      {live.map((text) => (
        <li key={text.key} className="said model is-live" aria-live="off">
          <p className="small muted">
            {text.kind === 'model.reasoning' ? 'The model thinks' : 'The model writes'} <span className="pulse">…</span>
          </p>
          {text.text !== '' && (
            <p className="said-text">
              <Text>{text.text}</Text>
            </p>
          )}
        </li>
      ))}
      {run.message !== null && all.at(-1)?.message !== run.message && (
        <Said by="The run" what="last message" kind="model">
          {run.message}
        </Said>
      )}
    </ol>
  );
}

function TurnSaid({ turn, runId }: { turn: Turn; runId: string }) {
  return (
    <>
      {turn.messages.map((message) => (
        <Said key={message.id} by={message.by} at={message.at} kind="person">
          {message.text}
        </Said>
      ))}
      <li className={`said model${turn.undone ? ' is-undone' : ''}`}>
        <p className="small muted said-head">
          <span>
            Turn {turn.turn}
            {turn.answered?.model !== undefined && (
              <>
                {' · '}
                <Text most={60}>{turn.answered.model}</Text>
              </>
            )}
            {turn.undone && ' · undone'}
          </span>
          {turn.usage !== null && (
            <span className="numbers">
              {turn.usage.input_tokens.toLocaleString('en')} in, {turn.usage.output_tokens.toLocaleString('en')} out
              {turn.usage.cost_usd !== null && ` · $${turn.usage.cost_usd.toFixed(4)}`}
            </span>
          )}
        </p>
        {turn.message !== '' && <Words>{turn.message}</Words>}
        {turn.refused !== null && (
          <p className="small">
            {turn.refused.calls} calls were refused: <Text>{turn.refused.error.message}</Text>
          </p>
        )}
        {turn.steps.length > 0 && (
          <p className="small said-calls">
            {turn.steps.slice(0, 20).map((step, at) => (
              <Link key={step} href={`/runs/${runId}/steps/${step}`}>
                call {at + 1}
              </Link>
            ))}
            {turn.steps.length > 20 && <span className="muted">and {turn.steps.length - 20} more on the timeline</span>}
          </p>
        )}
      </li>
    </>
  );
}

interface SaidProps {
  by: string;
  at?: string;
  what?: string;
  kind: 'person' | 'model';
  children: string;
}

const Said = ({ by, at, what, kind, children }: SaidProps) => (
  <li className={`said ${kind}`}>
    <p className="small muted said-head">
      <span>
        <Text most={80}>{by}</Text>
        {what !== undefined && ` · ${what}`}
      </span>
      {at !== undefined && <Ago at={at} />}
    </p>
    <Words>{children}</Words>
  </li>
);

/** Longer words open on demand: a prompt may have 200,000 characters. */
const longest = 8000;

function Words({ children }: { children: string }) {
  if (children.length <= longest) {
    return (
      <p className="said-text">
        <Text>{children}</Text>
      </p>
    );
  }
  return (
    <details>
      <summary className="said-text">
        <Text most={1500}>{children}</Text>
        <span className="muted small"> {children.length.toLocaleString('en')} characters in all</span>
      </summary>
      <p className="said-text">
        <Text>{children}</Text>
      </p>
    </details>
  );
}
