import type { PublishPlan, ValidatorResult } from '@holdpoint/contract';
import type { Approval } from '@holdpoint/contract/wire';
import { useQuery } from '@tanstack/react-query';
import { ask } from '../../api/request.ts';
import { useRunDetail } from '../../api/runs.ts';
import { DiffView } from '../../diff/diff-view.tsx';
import { Badge, Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { spanText } from '../../parts/time.tsx';
import { NotShown, useWhyNot } from '../../session/session.tsx';

const how = {
  create: 'The branch is created.',
  fast_forward: 'The branch moves ahead.',
  merge: 'The branch has moved: the change set is merged into it.',
  nothing: 'The branch has all of this already.',
} as const;

type Pull = NonNullable<Extract<PublishPlan['target'], { type: 'git' }>['pull_request']>;

/** What is opened once the branch is pushed, and where a token is sent to. */
const PullRequest = ({ pull: { title, base, repository, api, draft } }: { pull: Pull }) => (
  <>
    <dt>{draft ? 'Draft pull request' : 'Pull request'}</dt>
    <dd>
      <Text>{title}</Text>
      <p className="muted small">
        into <Text>{base ?? 'the default branch'}</Text> of <Text>{repository}</Text>, by <Text>{api}</Text>
      </p>
    </dd>
  </>
);

/** Where the change set goes, with every file, and what the validators said of exactly these files. */
export function PublishEffect({ approval, plan }: { approval: Approval; plan: PublishPlan }) {
  const { target, files, conflicts } = plan;
  return (
    <div className="stack">
      <dl className="facts">
        <dt>Target</dt>
        <dd>
          <code>
            <Text>{target.path}</Text>
          </code>
        </dd>
        {target.type === 'git' && (
          <>
            <dt>Branch</dt>
            <dd>
              <code>
                <Text>{target.branch.replace('refs/heads/', '')}</Text>
              </code>
              <p className="muted small">{how[target.how]}</p>
            </dd>
            <dt>Message</dt>
            <dd>
              <pre>
                <Text>{target.message}</Text>
              </pre>
            </dd>
            {target.pull_request !== undefined && <PullRequest pull={target.pull_request} />}
          </>
        )}
      </dl>
      <LongText label="Files of the publish">
        <ul className="paths">
          {files.map(({ path, status, moved_from }) => (
            <li key={path}>
              <Badge tone={status === 'deleted' ? 'bad' : status === 'added' ? 'good' : 'quiet'}>{status}</Badge>{' '}
              <code>
                <Text>{path}</Text>
              </code>
              {moved_from !== undefined && (
                <span className="muted">
                  {' '}
                  from <Text>{moved_from}</Text>
                </span>
              )}
            </li>
          ))}
        </ul>
        {files.length === 0 && <p className="muted">No file changes at the target.</p>}
      </LongText>
      {plan.left_out.length > 0 && (
        <details>
          <summary>{plan.left_out.length} changed paths are left out</summary>
          <ul className="paths">
            {plan.left_out.map(({ path, reason, files: count }) => (
              <li key={path ?? ''}>
                <Badge>{reason}</Badge> <code>{path === null ? `${count} more` : <Text>{path}</Text>}</code>
              </li>
            ))}
          </ul>
        </details>
      )}
      {approval.kind === 'publish' && <OfRun runId={approval.run_id} />}
      {conflicts.length > 0 && approval.kind !== 'conflict' && (
        <Note tone="bad" title="With conflicts nothing can be published" />
      )}
    </div>
  );
}

function OfRun({ runId }: { runId: string }) {
  const whyNot = useWhyNot('runs:read');
  if (whyNot !== undefined)
    return <NotShown whyNot={whyNot}>the lines of the files and what the validators said</NotShown>;
  return (
    <>
      <Lines runId={runId} />
      <Validators runId={runId} />
    </>
  );
}

/** The lines of the change set, with drafts of comments: they go with a rejection, or as a message to the run. */
function Lines({ runId }: { runId: string }) {
  const { data: run } = useRunDetail(runId);
  if (!run?.workspace.snapshot) return null;
  return (
    <section className="stack" aria-label="Lines of the change">
      <h3>Lines</h3>
      <DiffView runId={runId} to={run.workspace.snapshot} />
    </section>
  );
}

function Validators({ runId }: { runId: string }) {
  const run = useRunDetail(runId);
  const { data } = useQuery({
    queryKey: ['run', runId, 'validation'],
    queryFn: ({ signal }) =>
      ask<{ results: ValidatorResult[] }>({ path: `/v1/runs/${encodeURIComponent(runId)}/validation`, signal }),
    enabled: (run.data?.request.validators.length ?? 0) > 0,
    retry: false,
  });
  if (data === undefined || data.results.length === 0) return null;
  return (
    <div className="stack">
      <h3>Validators</h3>
      <ul className="stack">
        {data.results.map(({ name, command, status, duration_ms, stdout, stderr }) => (
          <li key={name}>
            <details>
              <summary className="row">
                <Badge tone={status === 'passed' ? 'good' : 'bad'} icon={status === 'passed' ? 'check' : 'alert'}>
                  {status}
                </Badge>
                <strong>
                  <Text>{name}</Text>
                </strong>
                <code className="muted">
                  <Text most={80}>{command}</Text>
                </code>
                <span className="muted small numbers">{spanText(duration_ms)}</span>
              </summary>
              <LongText label={`Output of ${name}`} counts={false}>
                <pre>
                  <Text>{`${stdout}${stderr}` || 'no output'}</Text>
                </pre>
              </LongText>
            </details>
          </li>
        ))}
      </ul>
    </div>
  );
}
