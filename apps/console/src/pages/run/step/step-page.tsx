import type { Attempt, Page, Snapshot, StepDetail } from '@holdpoint/contract/wire';
import { keepPreviousData, useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { ask, isProblem } from '../../../api/request.ts';
import { DiffView } from '../../../diff/diff-view.tsx';
import { OutputView } from '../../../output/output-view.tsx';
import { Button } from '../../../parts/button.tsx';
import { Loading } from '../../../parts/empty.tsx';
import { Badge, Note } from '../../../parts/note.tsx';
import { Risk, StepStatus } from '../../../parts/status.tsx';
import { ProblemNote, Text } from '../../../parts/text.tsx';
import { Ago, spanText } from '../../../parts/time.tsx';
import { useWhyNot } from '../../../session/session.tsx';
import { Missing } from '../../missing/missing-page.tsx';
import { ActionDialog } from '../head/action-dialog.tsx';
import { useLiveTexts } from '../live-texts.ts';
import { runPath, type ShownRun, useFollowedRun } from '../shown-run.ts';
import { Attempts } from './attempts.tsx';
import { Network } from './network.tsx';
import { Value } from './value.tsx';

interface Image {
  media_type: string;
  width: number;
  height: number;
  bytes: number;
}

/** The image of a step's result, as the model sees it. The server gives out bytes that are an image, and nothing in them runs. */
export function ResultImage({ step: { id, result } }: { step: StepDetail }) {
  const [isBroken, setBroken] = useState(false);
  const image = imageOf(result);
  if (image === undefined) return null;
  const { width, height, media_type, bytes } = image;
  const line = `image ${width}x${height} ${media_type.slice('image/'.length).toUpperCase()}, ${Math.ceil(bytes / 1000)} kB`;
  return (
    <figure className="result-image">
      {!isBroken && (
        <img
          src={`/v1/steps/${encodeURIComponent(id)}/image`}
          alt={line}
          width={width}
          height={height}
          loading="lazy"
          onError={() => setBroken(true)}
        />
      )}
      <figcaption className="small muted">{isBroken ? `${line}; this browser does not show it` : line}</figcaption>
    </figure>
  );
}

function imageOf(result: StepDetail['result']): Image | undefined {
  if (typeof result !== 'object' || result === null || Array.isArray(result)) return undefined;
  const { image } = result;
  if (typeof image !== 'object' || image === null || Array.isArray(image)) return undefined;
  const { media_type, width, height, bytes } = image;
  return typeof media_type === 'string' && isSize(width) && isSize(height) && isSize(bytes)
    ? { media_type, width, height, bytes }
    : undefined;
}

const isSize = (value: unknown): value is number => typeof value === 'number' && value > 0;

/** A step by its own address: what was asked, what came of it, on which attempts, and what it changed. */
export function StepPage({ run, stepId }: ShownRun & { stepId: string }) {
  const { data: step, error } = useQuery({
    queryKey: ['run', run.id, 'step', stepId],
    queryFn: ({ signal }) => ask<StepDetail>({ path: `/v1/steps/${encodeURIComponent(stepId)}`, signal }),
  });
  if (isProblem(error) && error.status === 404) return <Missing what="step" id={stepId} />;
  if (error && step === undefined) return <ProblemNote error={error} />;
  if (step === undefined) return <Loading of="the step" />;
  return (
    <article className="stack step-page" aria-labelledby="step-title">
      <Head run={run} step={step} />
      {step.error !== null && (
        <Note tone="bad" title={<Text>{step.error.message}</Text>}>
          {step.error.next !== undefined && <Text>{step.error.next}</Text>}
        </Note>
      )}
      <section className="stack">
        <h3>Arguments</h3>
        <Value value={step.args} name="arguments" />
      </section>
      <LiveOutput step={step} />
      {step.result !== null && (
        <section className="stack">
          <h3>Result</h3>
          <ResultImage step={step} />
          <Value value={step.result} name="result" />
        </section>
      )}
      <Diff run={run} step={step} />
      <AttemptsOf step={step} run={run} />
      <Network run={run} step={step} />
    </article>
  );
}

function Head({ run, step }: ShownRun & { step: StepDetail }) {
  const [isForking, setForking] = useState(false);
  const whyNot = useWhyNot('runs:write');
  const { verdict } = step;
  return (
    <header className="stack">
      <div className="run-title">
        <h2 id="step-title" className="step-heading">
          <span className="mono">
            <Text>{step.tool}</Text>
          </span>
          {step.name !== null && (
            <span className="muted">
              <Text>{step.name}</Text>
            </span>
          )}
        </h2>
        <StepStatus status={step.status} />
        <Risk risk={step.risk} />
        <Badge>{step.effect}</Badge>
      </div>
      <p className="run-facts muted small">
        {step.turn !== null && <span>turn {step.turn}</span>}
        <span>
          planned <Ago at={step.created_at} />
        </span>
        {step.duration_ms !== null && <span className="numbers">took {spanText(step.duration_ms)}</span>}
        {step.worker !== null && (
          <span>
            on <Text most={40}>{step.worker}</Text>
          </span>
        )}
        {step.approval_id !== null && <Link href={`/approvals/${step.approval_id}`}>its approval</Link>}
      </p>
      {verdict !== null && verdict.action !== 'allow' && <Verdict verdict={verdict} />}
      {step.reads !== null && <p className="small muted">Its command only reads, so its files were read-only.</p>}
      <div className="row">
        <Button
          slim
          icon="fork"
          whyNot={whyNot ?? (isOpen(step) ? 'The step is not settled yet' : undefined)}
          onClick={() => setForking(true)}
        >
          Fork from here
        </Button>
        {isOpen(step) && <CancelStep step={step} runId={run.id} />}
      </div>
      {isForking && <ActionDialog run={run} action="fork" step={step.id} onClose={() => setForking(false)} />}
    </header>
  );
}

const Verdict = ({ verdict }: { verdict: NonNullable<StepDetail['verdict']> }) => (
  <details className="small">
    <summary>{verdict.action === 'hold' ? 'The policy held it' : 'The policy denied it'}</summary>
    <Value value={verdict as unknown as StepDetail['args']} name="verdict" />
  </details>
);

const unsettled = new Set<StepDetail['status']>([
  'pending',
  'parked',
  'queued',
  'running',
  'deferred',
  'indeterminate',
]);
const isOpen = ({ status }: StepDetail): boolean => unsettled.has(status);

function CancelStep({ step, runId }: { step: StepDetail; runId: string }) {
  const queries = useQueryClient();
  const whyNot = useWhyNot('runs:write');
  const cancel = useMutation({
    mutationFn: () => ask<StepDetail>({ method: 'POST', path: `/v1/steps/${step.id}/cancel`, body: {} }),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['run', runId] }),
  });
  return (
    <>
      <Button slim kind="danger" whyNot={cancel.isPending ? 'Being sent' : whyNot} onClick={() => cancel.mutate()}>
        Cancel this call
      </Button>
      {cancel.error && <ProblemNote error={cancel.error} />}
    </>
  );
}

/** What the command of a running step writes. */
function LiveOutput({ step }: { step: StepDetail }) {
  const live = useLiveTexts(useFollowedRun()).find(({ stepId }) => stepId === step.id);
  if (live === undefined || step.result !== null) return null;
  return (
    <section className="stack">
      <h3>Output</h3>
      <OutputView name="output" text={live.text} isGrowing />
    </section>
  );
}

function AttemptsOf({ run, step }: ShownRun & { step: StepDetail }) {
  const { data, error } = useQuery({
    queryKey: ['run', run.id, 'attempts', step.id],
    enabled: step.attempts > 0,
    queryFn: ({ signal }) => ask<{ data: Attempt[] }>({ path: `/v1/steps/${step.id}/attempts`, signal }),
  });
  if (step.attempts === 0) return null;
  if (error && data === undefined) return <ProblemNote error={error} />;
  return <Attempts attempts={data?.data ?? []} />;
}

/** The changes of the step alone: from the snapshot before its own. */
function Diff({ run, step }: ShownRun & { step: StepDetail }) {
  const { snapshot } = step;
  const { data } = useQuery({
    queryKey: ['snapshots', run.id, run.workspace.snapshot],
    placeholderData: keepPreviousData,
    enabled: snapshot !== null,
    queryFn: ({ signal }) =>
      ask<Page<Snapshot>>({ path: runPath(run.id, '/snapshots'), query: { limit: 1000, order: 'desc' }, signal }),
  });
  const left = data?.data.find(({ step: by }) => by?.id === step.id);
  if (snapshot === null || left === undefined || left.parent === null || left.files_changed === 0) return null;
  return (
    <section className="stack">
      <h3>What it changed</h3>
      <DiffView runId={run.id} from={left.parent} to={left.id} />
    </section>
  );
}
