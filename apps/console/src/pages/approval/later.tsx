import type { Approval } from '@holdpoint/contract/wire';
import { useId, useState } from 'react';
import { delegateApproval } from '../../api/approvals.ts';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Button } from '../../parts/button.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { SnoozeDialog } from '../inbox/bulk.tsx';
import { useSnoozed } from '../inbox/snoozed.ts';

/** The ways to put a decision off: another caller decides, or the person looks at the approval later. */
export function Later({ approval }: { approval: Approval }) {
  const [open, setOpen] = useState<'delegate' | 'snooze'>();
  const noScope = useWhyNot('approvals:decide');
  const everyone = approval.deciders.length === 0 ? 'Every caller who may decide can decide on it already' : undefined;
  const { isSnoozed, wake } = useSnoozed();
  return (
    <div className="row">
      <Button slim icon="right" whyNot={noScope ?? everyone} onClick={() => setOpen('delegate')}>
        Delegate
      </Button>
      {isSnoozed(approval.id) ? (
        <Button slim icon="clock" onClick={() => wake([approval.id])}>
          Snoozed: show it again
        </Button>
      ) : (
        <Button slim icon="clock" onClick={() => setOpen('snooze')}>
          Snooze
        </Button>
      )}
      {open === 'delegate' && <Delegate approval={approval} onClose={() => setOpen(undefined)} />}
      {open === 'snooze' && <SnoozeDialog approvals={[approval]} onClose={() => setOpen(undefined)} />}
    </div>
  );
}

function Delegate({ approval: { id }, onClose }: { approval: Approval; onClose: () => void }) {
  const field = useId();
  const delegate = (given: FormData) => delegateApproval(id, String(given.get('to')).trim());
  return (
    <AskDialog title="Let another caller decide" word="Delegate" onSend={delegate} onClose={onClose}>
      <p className="muted">
        For this approval alone. You may still decide yourself; where several have to approve, you count once together.
      </p>
      <div className="field">
        <label htmlFor={field}>Name of the caller</label>
        <input id={field} name="to" required autoComplete="off" spellCheck={false} />
      </div>
    </AskDialog>
  );
}
