import type { Approval, ApprovalContext } from '@holdpoint/contract/wire';
import { Link } from 'wouter';
import { useApprovalContext } from '../../api/approvals.ts';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';

type Decided = NonNullable<ApprovalContext['decided']>;

const words = { approve: 'approved', edit: 'edited', reject: 'rejected', respond: 'answered', expired: 'expired' };

/** How people decided on such calls. */
export function DecidedBefore({ approval: { id } }: { approval: Approval }) {
  const { data } = useApprovalContext(id);
  if (data === undefined || data.decided === null) return null;
  const { same, alike, head, last, runs, complete } = data.decided;
  return (
    <section className="card pad stack" aria-labelledby="decided-before">
      <h2 id="decided-before">Decided before</h2>
      <dl className="facts">
        <dt>This very call</dt>
        <dd>{countText(same)}</dd>
        <dt>{head === null ? 'Calls of this tool' : <BeginsWith head={head} />}</dt>
        <dd>
          {countText(alike)}
          {!complete && <span className="muted"> in the newest {runs === 1 ? 'run' : `${runs} runs`}</span>}
        </dd>
      </dl>
      {last.length > 0 && (
        <ul className="names small">
          {last.slice(0, 3).map((one) => (
            <li key={one.approval_id}>
              <Link href={`/approvals/${one.approval_id}`}>{words[one.decision]}</Link>{' '}
              {one.by !== null && (
                <span>
                  by <Text>{one.by}</Text>{' '}
                </span>
              )}
              <Ago at={one.at} />
            </li>
          ))}
        </ul>
      )}
    </section>
  );
}

const BeginsWith = ({ head }: { head: string }) => (
  <>
    Calls that begin with <Text most={60}>{head}</Text>
  </>
);

function countText(counts: Decided['same']): string {
  const parts = Object.entries(words).flatMap(([name, word]) => {
    const count = counts[name as keyof typeof words];
    return count === 0 ? [] : [`${word} ${count === 1 ? 'once' : `${count} times`}`];
  });
  return parts.length === 0 ? 'never' : parts.join(', ');
}
