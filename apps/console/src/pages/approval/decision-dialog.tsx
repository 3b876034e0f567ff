import type { Approval, Decide, Tool } from '@holdpoint/contract/wire';
import { useEffect, useRef, useState } from 'react';
import { Link } from 'wouter';
import { useDrafts } from '../../diff/comments/drafts.ts';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { ApproveForm } from './approve-form.tsx';
import { DecidedNote } from './decided-note.tsx';
import { EditForm } from './edit-form.tsx';
import { RejectForm } from './reject-form.tsx';
import { RespondForm } from './respond-form.tsx';
import { SideBySide } from './side-by-side.tsx';
import { useDecision } from './use-decision.ts';

export type Kind = Decide['decision'];

interface Props {
  kind: Kind;
  approval: Approval;
  tool: Tool | undefined;
  unread: number;
  onClose: () => void;
}

const titles: Record<Kind, string> = {
  approve: 'Approve this call?',
  edit: 'Approve it with other arguments',
  reject: 'Reject this call',
  respond: 'Answer instead of running it',
};

/** Decides on the approval as it was when the dialog opened: that is what the person has read. */
export function DecisionDialog({ kind, approval: now, tool, unread, onClose }: Props) {
  const [approval] = useState(now);
  const decision = useDecision(approval);
  const confirm = useRef<() => void>(() => undefined);
  const { sent } = decision;
  const drafts = useDrafts(approval.run_id);
  const sentDrafts = useRef<readonly string[]>([]);
  const isRejected = sent.is === 'done' && sent.now.status === 'rejected';
  // biome-ignore lint/correctness/useExhaustiveDependencies: once, when the decision counts
  useEffect(() => {
    if (isRejected) drafts.remove(sentDrafts.current);
  }, [isRejected]);
  const isPublish = approval.step_id === null;
  const title =
    isPublish && kind === 'approve'
      ? 'Publish this?'
      : isPublish && kind === 'reject'
        ? 'Do not publish'
        : titles[kind];
  const form = { approval, decision, confirm, onClose };
  if (sent.is === 'done' || sent.is === 'overtaken') {
    return (
      <Dialog title={sent.is === 'done' ? 'Decided' : 'Not decided'} onClose={onClose} wide={sent.is === 'overtaken'}>
        {sent.is === 'overtaken' && <ProblemNote error={sent.error} />}
        {sent.now.status !== 'pending' || sent.now.votes.length > 0 ? <DecidedNote approval={sent.now} /> : null}
        {sent.is === 'overtaken' && sent.now.status === 'pending' && <SideBySide before={approval} after={sent.now} />}
        <div className="dialog-foot">
          {sent.now.id !== approval.id && (
            <Link href={`/approvals/${sent.now.id}`} className="button">
              Open it
            </Link>
          )}
          <Button kind="main" autoFocus onClick={onClose}>
            Close
          </Button>
        </div>
      </Dialog>
    );
  }
  return (
    <Dialog title={title} onClose={onClose} onConfirm={() => confirm.current()} wide={kind === 'edit'}>
      {kind === 'approve' && <ApproveForm {...form} unread={unread} />}
      {kind === 'edit' && <EditForm {...form} tool={tool} />}
      {kind === 'reject' && <RejectForm {...form} sentDrafts={sentDrafts} />}
      {kind === 'respond' && <RespondForm {...form} />}
      {sent.is === 'refused' && <ProblemNote error={sent.error} />}
      {sent.is === 'unknown' && (
        <Note tone="warn" isNews title="No answer came: whether the decision counts is not known">
          <p>It is safe to look, and to send the same decision again: it counts once.</p>
          <Button slim onClick={() => void decision.look()}>
            Look whether it counts
          </Button>
        </Note>
      )}
    </Dialog>
  );
}
