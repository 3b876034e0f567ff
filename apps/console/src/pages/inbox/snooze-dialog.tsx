import type { Approval } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { AskDialog } from '../../parts/ask-dialog.tsx';
import { Choices } from '../../parts/choices.tsx';
import { Note } from '../../parts/note.tsx';
import { sightMs, useSnoozed } from './snoozed.ts';

const times = { '15 minutes': 15 * 60_000, '1 hour': 3_600_000, '4 hours': 4 * 3_600_000, '1 day': 24 * 3_600_000 };
type Time = keyof typeof times;
const options = (Object.keys(times) as Time[]).map((each) => [each, each] as const);

interface Props {
  approvals: readonly Approval[];
  onClose: (isDone: boolean) => void;
}

/** Puts approvals out of the way of this person for a while. */
export function SnoozeDialog({ approvals, onClose }: Props) {
  const { snooze } = useSnoozed();
  const [time, setTime] = useState<Time>('1 hour');
  const [now] = useState(Date.now);
  const soon = approvals.filter(({ expires_at }) => Date.parse(expires_at) - sightMs < now + times[time]).length;
  return (
    <AskDialog
      title={approvals.length === 1 ? 'Snooze this approval' : `Snooze ${approvals.length} approvals`}
      word="Snooze"
      onSend={async () => snooze(approvals, Date.now() + times[time])}
      onDone={() => onClose(true)}
      onClose={() => onClose(false)}
    >
      <Choices label="For how long" value={time} options={options} onChoose={setTime} />
      <p className="muted">
        In this browser alone: others see it as before, and its deadline runs. You find it under “Snoozed”.
      </p>
      {soon > 0 && (
        <Note tone="warn" title="It expires before">
          {approvals.length === 1 ? 'It comes' : `${soon} of them come`} back a quarter of an hour before the deadline.
        </Note>
      )}
    </AskDialog>
  );
}
