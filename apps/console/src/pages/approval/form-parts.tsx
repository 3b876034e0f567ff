import type { Approval } from '@holdpoint/contract/wire';
import type { RefObject } from 'react';
import { Button } from '../../parts/button.tsx';
import { Text } from '../../parts/problem-note.tsx';
import { LongText } from '../../parts/reading.tsx';
import type { Decision } from './use-decision.ts';

export interface FormProps {
  approval: Approval;
  decision: Decision;
  /** What ⌘/Ctrl+Enter does. */
  confirm: RefObject<() => void>;
  onClose: () => void;
}

/** The call that is decided on, in one frame. */
export const CallLine = ({ approval }: { approval: Approval }) => (
  <LongText label="The call" counts={false} className="call-line">
    <pre>
      <strong>{approval.action.tool}</strong>
      {'\n'}
      <Text escaped>{approval.display ?? approval.readable.args}</Text>
    </pre>
  </LongText>
);

interface FootProps {
  word: string;
  kind?: 'main' | 'danger main';
  whyNot?: string | undefined;
  /** The approval asks for a passkey. */
  byPasskey?: boolean;
  decision: Decision;
  onConfirm: () => void;
  onClose: () => void;
}

export function Foot({ word, kind = 'main', whyNot, byPasskey = false, decision, onConfirm, onClose }: FootProps) {
  const isSending = decision.sent.is === 'sending';
  return (
    <div className="dialog-foot">
      {byPasskey && <p className="muted small">Your passkey confirms it.</p>}
      <Button onClick={onClose}>Back</Button>
      <Button kind={kind} onClick={onConfirm} whyNot={isSending ? 'Being sent' : whyNot}>
        {isSending ? (byPasskey ? 'Waiting for your passkey …' : 'Sending …') : word}
        <kbd>{/mac|iphone|ipad/i.test(navigator.userAgent) ? '⌘' : 'Ctrl'} ↵</kbd>
      </Button>
    </div>
  );
}

interface EditProps extends FormProps {
  args: unknown;
  whyNot: string | undefined;
}

/** Sends the arguments of an edit, or the chosen versions of a publish. */
export function EditFoot({ approval, decision, confirm, onClose, args, whyNot }: EditProps) {
  const isCall = approval.step_id !== null;
  const send = () => {
    if (whyNot === undefined) void decision.send({ decision: 'edit', args: args as never });
  };
  confirm.current = send;
  return (
    <>
      {isCall && <p className="muted small">The policies judge the new call before it runs.</p>}
      <Foot
        byPasskey={approval.confirm === 'passkey'}
        word={isCall ? 'Approve with these' : 'Publish with these'}
        whyNot={whyNot}
        decision={decision}
        onConfirm={send}
        onClose={onClose}
      />
    </>
  );
}
