import type { Approval } from '@holdpoint/contract/wire';
import { Note, type Tone } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';

const words: Record<Approval['status'], [Tone, string]> = {
  pending: ['info', 'Approved by some; more have to'],
  approved: ['good', 'Approved'],
  edited: ['good', 'Approved with other arguments'],
  rejected: ['bad', 'Rejected'],
  responded: ['info', 'Answered'],
  expired: ['quiet', 'Expired: nothing ran'],
  canceled: ['quiet', 'Withdrawn: the run no longer asks'],
};

/** Who decided, when, how and why. */
export function DecidedNote({ approval }: { approval: Approval }) {
  const { status, decision, quorum } = approval;
  const [tone, word] = words[status];
  return (
    <Note tone={tone} title={word}>
      {quorum !== null && (
        <p>
          {quorum.approved} of {quorum.needed}: <Text>{quorum.by.join(', ')}</Text>
        </p>
      )}
      {decision !== null && (
        <div className="stack">
          <p>
            by <Text>{decision.by}</Text>, <Ago at={decision.decided_at} />
            {decision.rule_id !== null && ', by a remembered rule'}
            {decision.confirmed && ', confirmed by passkey'}
            {decision.expired && ', because the deadline passed'}
          </p>
          {decision.message !== null && (
            <blockquote className="words">
              <Text>{decision.message}</Text>
            </blockquote>
          )}
          {decision.made_rule !== null && (decision.decision === 'approve' || decision.decision === 'reject') && (
            <>
              <p>
                It is remembered: <code>{decision.made_rule}</code>
              </p>
              <Contradictions approval={approval} decision={decision.decision} />
            </>
          )}
          {decision.changes.length > 0 && (
            <ul className="stack">
              {decision.changes.map(({ pointer, asked, ran }) => (
                <li key={pointer}>
                  <code>
                    <Text>{pointer}</Text>
                  </code>
                  <LongText label={`Edit of ${pointer}`} counts={false}>
                    <pre>
                      <del>
                        <Text>{textOf(asked)}</Text>
                      </del>
                      {'\n'}
                      <ins>
                        <Text>{textOf(ran)}</Text>
                      </ins>
                    </pre>
                  </LongText>
                </li>
              ))}
            </ul>
          )}
        </div>
      )}
    </Note>
  );
}

const textOf = (value: unknown): string =>
  value === undefined ? '(not given)' : typeof value === 'string' ? value : JSON.stringify(value, null, 2);

/** The remembered rules about the call that say the opposite of a decision. */
export function Contradictions({ approval, decision }: { approval: Approval; decision: 'approve' | 'reject' }) {
  const others = (approval.remembered ?? []).filter((rule) => rule.decision !== decision);
  if (others.length === 0) return null;
  return (
    <Note tone="warn" title="Another remembered rule says the opposite: a rejection wins">
      <ul className="names">
        {others.map(({ rule_id, decision: other, created_by, created_at, scope }) => (
          <li key={rule_id}>
            <code>{rule_id}</code> {other === 'approve' ? 'approves' : 'rejects'} this very call{' '}
            {scope === 'run' ? 'in this run' : 'in all runs'}: by <Text>{created_by}</Text>, <Ago at={created_at} />
          </li>
        ))}
      </ul>
    </Note>
  );
}
