import type { ReactNode } from 'react';
import { ApiProblem, NoAnswer } from '../api/problem.ts';
import { PasskeyRefused } from '../platform/passkey.ts';
import { Note } from './note.tsx';
import { Text } from './text.tsx';

/** A refusal in the API's own words: what happened, and what to do next. */
export function ProblemNote({ error, children }: { error: unknown; children?: ReactNode }) {
  const { detail, next } = wordsOf(error);
  const errors = error instanceof ApiProblem ? error.errors : [];
  return (
    <Note tone="bad" isNews title={<Text>{detail}</Text>}>
      <div className="stack">
        {errors.length > 0 && (
          <ul>
            {errors.map((each) => (
              <li key={`${each.pointer} ${each.detail}`}>
                <code>
                  <Text>{each.pointer || '/'}</Text>
                </code>{' '}
                <Text>{each.detail}</Text>
              </li>
            ))}
          </ul>
        )}
        <p>
          <Text>{next}</Text>
        </p>
        {children}
      </div>
    </Note>
  );
}

function wordsOf(error: unknown): { detail: string; next: string } {
  const isWorded = error instanceof ApiProblem || error instanceof NoAnswer || error instanceof PasskeyRefused;
  if (isWorded) return { detail: error.detail, next: error.next };
  return { detail: error instanceof Error ? error.message : String(error), next: 'Load the page again.' };
}
