import { type FormEvent, type ReactNode, useRef, useState } from 'react';
import { Button } from './button.tsx';
import { Dialog } from './dialog.tsx';
import { ProblemNote } from './text.tsx';

interface Props<Answer> {
  title: ReactNode;
  /** The word of the button. */
  word: string;
  danger?: boolean;
  wide?: boolean;
  whyNot?: string | undefined;
  /** Sends the request. A refusal leaves the dialog open. */
  onSend: (given: FormData) => Promise<Answer>;
  /** Default: the dialog closes. */
  onDone?: ((answer: Answer) => void) | undefined;
  onClose: () => void;
  children?: ReactNode;
}

/** Asks before a request is sent, sends it once, and shows a refusal where it was asked. */
export function AskDialog<Answer>(props: Props<Answer>) {
  const { title, word, danger = false, wide = false, whyNot, onSend, onClose, onDone = onClose, children } = props;
  const form = useRef<HTMLFormElement>(null);
  const isBusy = useRef(false);
  const [isSending, setSending] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy.current || whyNot !== undefined) return;
    isBusy.current = true;
    setSending(true);
    setError(undefined);
    try {
      onDone(await onSend(new FormData(event.currentTarget)));
    } catch (refused) {
      setError(refused);
    } finally {
      isBusy.current = false;
      setSending(false);
    }
  };
  return (
    <Dialog title={title} wide={wide} onClose={onClose} onConfirm={() => form.current?.requestSubmit()}>
      <form ref={form} className="stack" onSubmit={send}>
        {children}
        {error !== undefined && <ProblemNote error={error} />}
        <div className="dialog-foot">
          <Button onClick={onClose}>Back</Button>
          <Button type="submit" kind={danger ? 'danger main' : 'main'} whyNot={isSending ? 'Being sent' : whyNot}>
            {word}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
