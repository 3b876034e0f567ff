import type { Approval } from '@holdpoint/contract/wire';
import { Link } from 'wouter';
import { Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';

/** What the person has to know beside the call: what it may find, and what happened before. */
export function Surroundings({ approval }: { approval: Approval }) {
  const { readable, changed, superseded_by, other_policy, edited_by, files_unread } = approval;
  return (
    <>
      {readable.hidden && (
        <Note tone="bad" title="Some characters are invisible, or imitate others">
          They stand there as <code>&lt;U+200B&gt;</code>. Read them before you decide.
        </Note>
      )}
      {changed !== null && (
        <Note tone="warn" title="This call was decided before, and the files have changed since">
          Nothing ran. {changed.total} changed {changed.total === 1 ? 'path' : 'paths'}:{' '}
          {changed.changes.slice(0, 5).map(({ path, change }) => (
            <span key={path}>
              {change}{' '}
              <code>
                <Text>{path}</Text>
              </code>{' '}
            </span>
          ))}
          <Link href={`/approvals/${changed.approval_id}`}>The decision before</Link>
        </Note>
      )}
      {superseded_by !== null && (
        <Note
          tone="warn"
          title={
            approval.decision === null
              ? 'It was run on a throw-away copy'
              : 'Nothing ran after this decision: the files had changed'
          }
        >
          <Link href={`/approvals/${superseded_by}`}>
            {approval.decision === null ? 'The approval with its result' : 'The approval that asks again'}
          </Link>
        </Note>
      )}
      {other_policy && (
        <Note tone="warn" title="The run is a fork with another policy than the run that it continues" />
      )}
      {edited_by.length > 0 && (
        <Note tone="info" title="Its arguments were given by a person">
          <Text>{edited_by.join(', ')}</Text>
        </Note>
      )}
      <MayFind approval={approval} />
      {files_unread !== null && (
        <Note tone="warn" title="What the call may find could not be read whole">
          <Text>{files_unread}</Text>
        </Note>
      )}
    </>
  );
}

function MayFind({ approval: { unknown, repositories, may_write } }: { approval: Approval }) {
  return (
    <>
      {may_write.length > 0 && (
        <Note tone="warn" title="Background commands may still change the files">
          <ul>
            {may_write.map(({ task_id, command, since }) => (
              <li key={task_id}>
                <code>
                  <Text most={200}>{command}</Text>
                </code>{' '}
                {since !== null && <Ago at={since} />}
              </li>
            ))}
          </ul>
        </Note>
      )}
      {unknown.length > 0 && (
        <Note tone="warn" title="The call may find files that no snapshot holds">
          <ul>
            {unknown.map(({ path, reason, bytes }) => (
              <li key={path}>
                <code>
                  <Text>{path}</Text>
                </code>{' '}
                {reason}, {bytes} bytes
              </li>
            ))}
          </ul>
        </Note>
      )}
      {repositories.length > 0 && (
        <Note tone="warn" title="Repositories in the workspace were created or changed">
          {repositories.map(({ path, files, configuration }) => (
            <details key={path ?? ''}>
              <summary>
                <code>{path === null ? 'more' : <Text>{path}</Text>}</code>, {files} files
              </summary>
              {configuration !== null && (
                <LongText label="Configuration of the repository" counts={false}>
                  <pre>
                    <Text>{configuration}</Text>
                  </pre>
                </LongText>
              )}
            </details>
          ))}
        </Note>
      )}
    </>
  );
}
