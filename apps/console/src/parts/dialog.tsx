import { type ReactNode, useEffect, useId, useRef } from 'react';

interface Props {
  title: ReactNode;
  onClose: () => void;
  /** ⌘/Ctrl+Enter inside. */
  onConfirm?: (() => void) | undefined;
  wide?: boolean;
  /** false: Escape does not close it. */
  mayClose?: boolean;
  children: ReactNode;
}

/** A native modal dialog, open as long as it is rendered. Focus goes back to where it was. */
export function Dialog({ title, onClose, onConfirm, wide = false, mayClose = true, children }: Props) {
  const dialog = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const before = document.activeElement;
    dialog.current?.showModal();
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus();
    };
  }, []);
  return (
    <dialog
      ref={dialog}
      className={wide ? 'wide' : ''}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        if (mayClose) onClose();
      }}
      onKeyDown={(event) => {
        if (event.key !== 'Enter' || !(event.metaKey || event.ctrlKey) || event.repeat) return;
        event.preventDefault();
        onConfirm?.();
      }}
    >
      <div className="dialog-body">
        <h2 id={id}>{title}</h2>
        {children}
      </div>
    </dialog>
  );
}
