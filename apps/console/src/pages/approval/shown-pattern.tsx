import type { ApprovalPattern } from '@holdpoint/contract/wire';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';
import { Replayed } from '../policies/replayed.tsx';

/** Rules with all that they would have changed. */
export function ShownPattern({ label, pattern }: { label: string; pattern: ApprovalPattern }) {
  const { proposal, replay, policy, why_not } = pattern;
  if (proposal === null || replay === null) {
    return (
      <p role="status">
        No pattern: <Text>{why_not ?? ''}</Text>.
      </p>
    );
  }
  return (
    <section className="stack" aria-label={label}>
      <p>
        <Text>{proposal.summary}</Text>.
      </p>
      <LongText label={`${label}: rules`} counts={false}>
        <pre>
          <Text>{JSON.stringify(proposal.rules, null, 2)}</Text>
        </pre>
      </LongText>
      <p className="muted small">
        {policy === null ? (
          'They would go into a new policy.'
        ) : (
          <>
            They would go before the rules of <Text>{policy.name}</Text>, version {policy.version}.
          </>
        )}{' '}
        {!replay.complete && 'The newest runs were looked at.'}
      </p>
      <Replayed found={replay} isReading={false} />
    </section>
  );
}
