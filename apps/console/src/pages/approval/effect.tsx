import type { Approval } from '@holdpoint/contract/wire';
import { Badge, Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text, Value } from '../../parts/text.tsx';
import { spanText } from '../../parts/time.tsx';
import { ProposedPatch } from './proposed-patch.tsx';
import { PublishEffect } from './publish-effect.tsx';
import { isPlan, type Shown, shownOf } from './shown.ts';

/** What the call would do: a diff, a command, the result of a try, the plan of a publish. */
export function Effect({ approval }: { approval: Approval }) {
  if (isPlan(approval.preview)) return <PublishEffect approval={approval} plan={approval.preview} />;
  // Letters that imitate others are marked in the API's own form alone.
  if (approval.readable.hidden && approval.readable.preview !== null) {
    return (
      <LongText label="Effect">
        <pre>
          <Text escaped>{approval.readable.preview}</Text>
        </pre>
      </LongText>
    );
  }
  const shown = shownOf(approval.preview);
  if (shown === undefined) {
    return approval.preview === null ? null : (
      <LongText label="Effect">
        <pre>
          <Value value={approval.preview} />
        </pre>
      </LongText>
    );
  }
  return <ShownEffect approval={approval} shown={shown} />;
}

function ShownEffect({ approval, shown }: { approval: Approval; shown: Shown }) {
  switch (shown.kind) {
    case 'diff':
      return <ProposedPatch approval={approval} patch={shown.patch} label={`Change of ${shown.path}`} />;
    case 'command':
      return <Command {...shown} />;
    case 'question':
      return (
        <blockquote className="question">
          <Text>{shown.question}</Text>
        </blockquote>
      );
    case 'plan':
      return (
        <LongText label={`Plan: ${shown.title}`}>
          <pre>
            <Text>{[shown.text, '', ...shown.todos.map((todo) => `[ ] ${todo}`)].join('\n')}</Text>
          </pre>
        </LongText>
      );
    case 'problem':
      return (
        <Note tone="warn" title="The effect cannot be shown in advance">
          <Text>{shown.message}</Text>
        </Note>
      );
    case 'merge':
      return <Changes approval={approval} {...shown} />;
    case 'result':
      return (
        <div className="stack">
          <Note tone={shown.status === 'succeeded' ? 'good' : 'warn'} title="It was run on a throw-away copy">
            It {shown.status} after {spanText(shown.duration_ms)} and changed{' '}
            {shown.files_changed === 1 ? 'one file' : `${shown.files_changed} files`}. Approving applies exactly this
            result.
          </Note>
          {shown.error && (
            <p>
              <Badge tone="bad">{shown.error.code}</Badge> <Text>{shown.error.message}</Text>
            </p>
          )}
          {shown.value !== null && (
            <LongText label="Result">
              <pre>
                <Value value={shown.value} />
              </pre>
            </LongText>
          )}
          <Changes approval={approval} {...shown} />
        </div>
      );
    default:
      return shown satisfies never;
  }
}

const Command = ({ command, cwd, network, secrets = [], background }: Extract<Shown, { kind: 'command' }>) => (
  <div className="stack">
    <LongText label="Command" className="command">
      <pre>
        <span className="prompt" aria-hidden="true">
          ${' '}
        </span>
        <Text>{command}</Text>
      </pre>
    </LongText>
    <dl className="facts">
      <dt>Folder</dt>
      <dd>
        <code>
          <Text>{cwd}</Text>
        </code>
      </dd>
      <dt>Network</dt>
      <dd>{network.length === 0 ? 'none' : <Text>{network.join(', ')}</Text>}</dd>
      {secrets.length > 0 && <dt>Secrets</dt>}
      {secrets.length > 0 && (
        <dd>
          <Text>{secrets.join(', ')}</Text>
        </dd>
      )}
      {background && <dt>Runs</dt>}
      {background && <dd>in the background, beside the other calls</dd>}
    </dl>
  </div>
);

type ChangesProps = Extract<Shown, { kind: 'merge' | 'result' }> & { approval: Approval };

const Changes = ({ approval, changes, total, patch, cut }: ChangesProps) => (
  <div className="stack">
    <ul className="paths">
      {changes.map(({ path, change }) => (
        <li key={path}>
          <Badge tone={change === 'deleted' ? 'bad' : change === 'added' ? 'good' : 'quiet'}>{change}</Badge>{' '}
          <code>
            <Text>{path}</Text>
          </code>
        </li>
      ))}
    </ul>
    {total > changes.length && <p className="muted">and {total - changes.length} more</p>}
    {patch !== '' && <ProposedPatch approval={approval} patch={patch} label="Changes" />}
    {cut && (
      <Note tone="warn" title="The patch is cut">
        The whole is below, at “Show all of it”.
      </Note>
    )}
  </div>
);
