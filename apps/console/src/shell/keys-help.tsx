import { useId, useSyncExternalStore } from 'react';
import { Button } from '../parts/button.tsx';
import { Dialog } from '../parts/dialog.tsx';

const place = 'holdpoint.letters';
const listeners = new Set<() => void>();
let areOn = read();

/** Whether single letters are keys (WCAG 2.1.4): speech input, and hands that slip, need them off. */
export const useLetters = (): boolean =>
  useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => areOn,
  );

function setLetters(on: boolean): void {
  areOn = on;
  try {
    localStorage.setItem(place, on ? 'on' : 'off');
  } catch {
    // Storage may be closed: the choice holds for this page.
  }
  for (const listener of listeners) listener();
}

function read(): boolean {
  try {
    return localStorage.getItem(place) !== 'off';
  } catch {
    return true;
  }
}

const keys: readonly (readonly [string, string])[] = [
  ['j  k', 'next and previous row'],
  ['Enter', 'open the row'],
  ['n', 'next failure'],
  ['/', 'search'],
  ['g a', 'inbox'],
  ['g r', 'runs'],
  ['g n', 'new run'],
  ['?', 'these keys'],
  ['Ctrl ↵  ⌘ ↵', 'confirm in an open dialog'],
  ['Esc', 'close the dialog'],
];

export function KeysHelp({ onClose }: { onClose: () => void }) {
  return (
    <Dialog title="Keys" onClose={onClose}>
      <dl className="keys-list">
        {keys.map(([key, word]) => (
          <div key={key} className="key-line">
            <dt>
              <kbd>{key}</kbd>
            </dt>
            <dd>{word}</dd>
          </div>
        ))}
      </dl>
      <p className="muted">No single key decides on anything.</p>
      <LettersSwitch />
      <div className="dialog-foot">
        <Button kind="main" onClick={onClose}>
          Close
        </Button>
      </div>
    </Dialog>
  );
}

export function LettersSwitch() {
  const id = useId();
  const areOn = useLetters();
  return (
    <label className="check" htmlFor={id}>
      <input id={id} type="checkbox" checked={areOn} onChange={({ target }) => setLetters(target.checked)} />
      Single letters are keys
    </label>
  );
}
