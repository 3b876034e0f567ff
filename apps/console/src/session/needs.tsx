import type { ReactNode } from 'react';
import { Note } from '../parts/note.tsx';
import { type Scope, useWhyNot } from './session.tsx';

/** What needs a scope, or the name of the scope that the caller's key lacks. */
export function Needs({ scope, to, children }: { scope: Scope; to: string; children: ReactNode }) {
  const whyNot = useWhyNot(scope);
  if (whyNot === undefined) return children;
  return (
    <Note tone="warn" title={whyNot}>
      It is needed {to}. Ask a caller with keys:admin for a key that has it.
    </Note>
  );
}

/** Names the parts of a page left out for a caller without a scope. */
export const NotShown = ({ whyNot, children }: { whyNot: string; children: ReactNode }) => (
  <p className="muted small">
    {whyNot}. Not shown: {children}.
  </p>
);
