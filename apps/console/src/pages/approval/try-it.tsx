import type { Approval } from '@holdpoint/contract/wire';
import { useRef, useState } from 'react';
import { useLocation } from 'wouter';
import { previewApproval } from '../../api/approvals.ts';
import { Button } from '../../parts/button.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Text } from '../../parts/text.tsx';
import { useWhyNot } from '../../session/session.tsx';

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
