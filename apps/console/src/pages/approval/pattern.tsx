import type { Approval, ApprovalPattern } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Link } from 'wouter';
import { confirmPattern, readPattern } from '../../api/approvals.ts';
import { isProblem } from '../../api/request.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { Loading } from '../../parts/empty.tsx';
import { Note } from '../../parts/note.tsx';
import { LongText } from '../../parts/reading.tsx';
import { ProblemNote, Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { Replayed } from '../policies/replayed.tsx';

type State =
  | { is: 'closed' | 'reading' }
  | { is: 'failed'; error: unknown }
  /** `before`: what was shown when a confirmation found another pattern. */
  | { is: 'shown'; pattern: ApprovalPattern; before?: ApprovalPattern }
  | { is: 'done'; policy: string; version: number };

/** After an approval: rules for all calls like it, with what they would have changed, before a person confirms them. */
export function Pattern({ approval: { id, status, step_id } }: { approval: Approval }) {
  const [state, setState] = useState<State>({ is: 'closed' });
  const [isAsking, setAsking] = useState(false);
  const noRuns = useWhyNot('runs:read');
  const noScope = useWhyNot('policies:write');
  if (status !== 'approved' || step_id === null) return null;
  const read = async (before?: ApprovalPattern) => {
    setState({ is: 'reading' });
    try {
      setState({ is: 'shown', pattern: await readPattern(id), ...(before && { before }) });
    } catch (error) {
      setState({ is: 'failed', error });
    }
  };
  return (
    <section className="card pad stack" aria-labelledby="pattern">
      <h2 id="pattern">Calls like it</h2>
      {state.is === 'closed' && (
        <Button whyNot={noRuns} onClick={() => void read()}>
          Look for a pattern
        </Button>
      )}
      {state.is === 'reading' && <Loading of="past decisions" />}
      {state.is === 'failed' && <ProblemNote error={state.error} />}
      {state.is === 'done' && (
        <Note tone="good" isNews title="The rules are in the policy">
          <p>
            <Link href={`/policies/${encodeURIComponent(state.policy)}`}>
              <Text>{state.policy}</Text>
            </Link>{' '}
            has version {state.version} now: runs that name it from now on have them.
          </p>
        </Note>
      )}
      {state.is === 'shown' && (
        <>
          {state.before !== undefined && (
            <Note tone="bad" isNews title="The pattern has changed: nothing was put into a policy">
              <ShownPattern label="Shown before" pattern={state.before} />
            </Note>
          )}
          <ShownPattern
            label={state.before === undefined ? 'The pattern' : 'The pattern now'}
            pattern={state.pattern}
          />
          {state.pattern.proposal !== null && (
            <Button kind="main" whyNot={noScope} onClick={() => setAsking(true)}>
              Put the rules into a policy
            </Button>
          )}
        </>
      )}
      {isAsking && state.is === 'shown' && (
        <Confirm
          pattern={state.pattern}
          onClose={() => setAsking(false)}
          onChanged={() => {
            setAsking(false);
            void read(state.pattern);
          }}
          onDone={(policy, version) => {
            setAsking(false);
            setState({ is: 'done', policy, version });
          }}
        />
      )}
    </section>
  );
}

interface ConfirmProps {
  pattern: ApprovalPattern;
  onClose: () => void;
  onChanged: () => void;
  onDone: (policy: string, version: number) => void;
}

/** Sends the rules and the digest that are shown. */
function Confirm({ pattern, onClose, onChanged, onDone }: ConfirmProps) {
  const { approval_id, proposal, policy, since, least } = pattern;
  if (proposal === null) return null;
  const send = async (given: FormData) => {
    const name = policy === null ? String(given.get('name')) : undefined;
    const body = { digest: proposal.digest, rules: proposal.rules, since, least, name };
    return confirmPattern(approval_id, body).catch((error: unknown) => {
      if (isProblem(error, 'pattern_changed', 'policy_changed')) return undefined;
      throw error;
    });
  };
  return (
    <AskDialog
      title={policy === null ? 'Put the rules into a new policy?' : `Put the rules into ${policy.name}?`}
      word="Put them in"
      wide
      onSend={send}
      onDone={(stored) => (stored === undefined ? onChanged() : onDone(stored.name, stored.version))}
      onClose={onClose}
    >
      <ShownPattern label="What would hold" pattern={pattern} />
      {policy === null && (
        <label className="field">
          Name of the new policy
          <input name="name" required pattern="[a-z0-9][a-z0-9\-]{0,62}" />
        </label>
      )}
    </AskDialog>
  );
}

/** Rules with all that they would have changed. */
function ShownPattern({ label, pattern }: { label: string; pattern: ApprovalPattern }) {
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
