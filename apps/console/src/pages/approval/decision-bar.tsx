import type { Approval } from '@holdpoint/contract/wire';
import { Button, type IconName } from '../../parts/button.tsx';
import { useWhyNot } from '../../session/session.tsx';
import type { Kind } from './decision-dialog.tsx';

interface Props {
  approval: Approval;
  whyNot: string | undefined;
  onChoose: (kind: Kind) => void;
}

/** The decisions that are open to the caller. Each opens a dialog: no key and no single click decides. */
export function DecisionBar({ approval, whyNot, onChoose }: Props) {
  const noScope = useWhyNot('approvals:decide');
  return (
    <div className="decision-bar">
      {kindsOf(approval).map(([kind, word, icon, look]) => (
        <Button key={kind} kind={look} icon={icon} whyNot={noScope ?? whyNot} onClick={() => onChoose(kind)}>
          {word}
        </Button>
      ))}
    </div>
  );
}

type Choice = [Kind, string, IconName, 'main' | 'plain' | 'danger'];

function kindsOf({ kind, allowed_decisions: allowed }: Approval): Choice[] {
  const words = wordsOf[kind];
  const all: Choice[] = [
    ['approve', words.approve, 'check', 'main'],
    ['edit', words.edit, 'turn', kind === 'conflict' ? 'main' : 'plain'],
    ['respond', words.respond, 'question', kind === 'input' ? 'main' : 'plain'],
    ['reject', words.reject, 'cross', 'danger'],
  ];
  return all.filter(([each]) => allowed.includes(each));
}

const call = { approve: 'Approve', edit: 'Edit', respond: 'Answer', reject: 'Reject' };
const wordsOf: Record<Approval['kind'], Record<Kind, string>> = {
  action: call,
  input: call,
  indeterminate: { ...call, approve: 'Run it again', respond: 'Say what happened', reject: 'Leave it' },
  publish: { ...call, approve: 'Publish' },
  conflict: { ...call, approve: 'Publish', edit: 'Settle the conflicts' },
};
