import type { Approval, Attempt } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { previewApproval, useApprovalDetail, useTool } from '../../api/approvals.ts';
import { useBeingHere } from '../../api/presence.ts';
import { ask, isProblem } from '../../api/request.ts';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Badge, Note } from '../../parts/note.tsx';
import { LongText, ReadingDesk, useUnread } from '../../parts/reading.tsx';
import { ApprovalStatus, Risk } from '../../parts/status.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { wholeTime } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { NotShown, useWhyNot } from '../../session/session.tsx';
import { Viewers } from '../inbox/inbox-page.tsx';
import { Missing } from '../missing/missing-page.tsx';
import { CallArguments } from './call-arguments.tsx';
import { DecidedBefore } from './decided-before.tsx';
import { DecidedNote } from './decided-note.tsx';
import { DecisionBar } from './decision-bar.tsx';
import { DecisionDialog, type Kind } from './decision-dialog.tsx';
import { Effect } from './effect.tsx';
import { Facts } from './facts.tsx';
import { Later } from './later.tsx';
import { LedHere } from './led-here.tsx';
import { Pattern } from './pattern.tsx';
import { Whole, WholeDesk } from './proposed-patch.tsx';
import { SideBySide } from './side-by-side.tsx';
import { Surroundings } from './surroundings.tsx';

/** A request for a decision with everything that a person needs for it. */
export function ApprovalPage({ id }: { id: string }) {
  const { data, error, isPending, refetch } = useApprovalDetail(id);
  useTitle(data === undefined ? 'Approval' : headline(data));
  if (isProblem(error) && error.status === 404) return <Missing what="approval" id={id} />;
  if (data === undefined) {
    return (
      <div className="page">
        <h1 className="hidden-text">Approval</h1>
        {isPending && <Loading of="the approval" />}
        {error && (
          <ProblemNote error={error}>
            <Button onClick={() => void refetch()}>Try again</Button>
          </ProblemNote>
        )}
      </div>
    );
  }
  return (
    <ReadingDesk key={id}>
      <WholeDesk>
        <Page approval={data} />
      </WholeDesk>
    </ReadingDesk>
  );
}

const kinds: Record<Approval['kind'], string> = {
  action: 'A call waits',
  input: 'A question',
  indeterminate: 'Did this take effect?',
  publish: 'A publish waits',
  conflict: 'A publish has conflicts',
};

const headline = ({ kind, action, step_id }: Approval): string => (step_id === null ? kinds[kind] : action.tool);

function Page({ approval: now }: { approval: Approval }) {
  const noTools = useWhyNot('tools:read');
  const tool = useTool(now.action, noTools === undefined);
  useBeingHere(now.id, now.status === 'pending');
  const unread = useUnread();
  const [kind, setKind] = useState<Kind>();
  const [read, setRead] = useState(now);
  const hasChanged = now.status === 'pending' && read.action_digest !== now.action_digest;
  return (
    <article className="page approval">
      <header className="stack">
        <Link href="/approvals" className="muted small">
          Inbox
        </Link>
        <div className="page-head">
          <h1>
            <Text>{headline(now)}</Text>
          </h1>
          <div className="row">
            <ApprovalStatus status={now.status} />
            <Risk risk={now.risk} />
            {now.step_id !== null && <Badge>{now.action.toolset}</Badge>}
          </div>
        </div>
        <p className="muted">
          {kinds[now.kind]}: <Text escaped>{now.reason}</Text>. Run{' '}
          <Link href={`/runs/${now.run_id}`}>
            <Text escaped>{now.run_title}</Text>
          </Link>
        </p>
      </header>
      {now.status !== 'pending' && <DecidedNote approval={now} />}
      {hasChanged && (
        <Note tone="bad" isNews title="The call has changed while you read">
          <SideBySide before={read} after={now} />
          <Button slim onClick={() => setRead(now)}>
            I have seen the change
          </Button>
        </Note>
      )}
      <div className="approval-columns">
        <div className="stack roomy">
          <Surroundings approval={now} />
          {now.kind === 'indeterminate' && <Attempts approval={now} />}
          {now.display !== null && (
            <section className="stack">
              <h2>In the words of the toolset</h2>
              <LongText label="Words of the toolset">
                <pre>
                  <Text escaped>{now.display}</Text>
                </pre>
              </LongText>
            </section>
          )}
          {now.preview !== null && (
            <section className="stack">
              <h2>What it would do</h2>
              <Effect approval={now} />
            </section>
          )}
          {now.step_id !== null && (
            <section className="stack">
              <h2>Arguments</h2>
              <CallArguments approval={now} tool={tool} />
              {noTools && <NotShown whyNot={noTools}>what the tool says about them</NotShown>}
            </section>
          )}
          <Whole approval={now} />
          <LedHere approval={now} />
        </div>
        <aside className="stack roomy">
          <section className="card pad stack">
            <Facts approval={now} />
          </section>
          {now.status === 'pending' && (
            <>
              <TryIt approval={now} />
              <DecisionBar
                approval={now}
                whyNot={hasChanged ? 'Read the change first' : undefined}
                onChoose={setKind}
              />
              <Later approval={now} />
            </>
          )}
          {/* Whatever is read later stands below the decisions: no button moves under the pointer. */}
          <div className="stack roomy read-later">
            {now.status === 'pending' && <Viewers approvalId={now.id} />}
            <DecidedBefore approval={now} />
            <Pattern approval={now} />
          </div>
        </aside>
      </div>
      {kind !== undefined && (
        <DecisionDialog kind={kind} approval={now} tool={tool} unread={unread} onClose={() => setKind(undefined)} />
      )}
    </article>
  );
}

/** Runs the call on a throw-away fork. The answer is another approval, which carries the result: the page goes there. */
export function TryIt({ approval }: { approval: Approval }) {
  const [, go] = useLocation();
  const whyNot = useWhyNot('approvals:decide');
  const [error, setError] = useState<unknown>();
  const [isAsking, setAsking] = useState(false);
  const isBusy = useRef(false);
  if (approval.kind !== 'action' || approval.action.effect !== 'workspace' || approval.replaces !== null) return null;
  const request = approval.preview_request;
  const isRunning = isAsking || request?.status === 'running';
  const run = async () => {
    if (isBusy.current) return;
    isBusy.current = true;
    setAsking(true);
    setError(undefined);
    try {
      const shown = await previewApproval(approval.id);
      if (shown.id !== approval.id) go(`/approvals/${shown.id}`, { replace: true });
    } catch (refused) {
      setError(refused);
    } finally {
      isBusy.current = false;
      setAsking(false);
    }
  };
  return (
    <div className="stack">
      <Button icon="play" whyNot={isRunning ? 'It runs on a throw-away copy' : whyNot} onClick={() => void run()}>
        {isRunning ? 'Running on a copy …' : 'Run it and show me'}
      </Button>
      {request?.problem && (
        <Note tone="warn" title="There is no result to show">
          <Text escaped>{request.problem.message}</Text>
        </Note>
      )}
      {error !== undefined && <ProblemNote error={error} />}
    </div>
  );
}

/** All that is known of a call whose worker died: whether it took effect, only a person can find out. */
export function Attempts({ approval: { step_id } }: { approval: Approval }) {
  const { data } = useQuery({
    queryKey: ['step', step_id, 'attempts'],
    queryFn: ({ signal }) =>
      ask<{ data: Attempt[] }>({ path: `/v1/steps/${encodeURIComponent(step_id ?? '')}/attempts`, signal }),
    enabled: step_id !== null,
  });
  return (
    <Note tone="bad" title="The worker was lost while this call ran: it may have taken effect, or not">
      <ul>
        {data?.data.map(({ number, worker, started_at, ended_at, end, reason }) => (
          <li key={number}>
            Attempt {number} on <Text>{worker}</Text>: began {wholeTime(started_at)}
            {ended_at === null ? ', has no end' : `, ended ${wholeTime(ended_at)} (${end})`}
            {reason !== null && (
              <>
                {' '}
                <Text>{reason.message}</Text>
              </>
            )}
          </li>
        ))}
      </ul>
      <p>Look at the place that the call changes. Then say what happened, or let it run again.</p>
    </Note>
  );
}
