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
