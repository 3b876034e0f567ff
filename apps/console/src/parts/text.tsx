import { plain } from '@holdpoint/readable/unseen';
import { memo, type ReactNode } from 'react';
import { ApiProblem, NoAnswer } from '../api/request.ts';
import { PasskeyRefused } from '../platform/passkey.ts';
import { Note } from './note.tsx';

interface Props {
  children: string;
  /** Characters shown at most. */
  most?: number;
  /** The API has made the characters visible: `readable`, `display`, `reason` and the title of an approval. */
  escaped?: boolean;
}

/**
 * Text from outside (titles, arguments, output, names). Control, zero-width and bidi characters stand there as `<U+202E>`, and the text keeps
 * its direction to itself. React writes text nodes alone, so markup in it stays text.
 */
export const Text = memo(function Text({ children, most, escaped = false }: Props) {
  const shown = most !== undefined && children.length > most ? `${children.slice(0, most).toWellFormed()}…` : children;
  return <bdi className="outside">{markUnseen(escaped ? shown : plain(shown))}</bdi>;
});

const mark = /(<U\+[0-9A-F]{4,6}>)/;

/** @param shown text that `plain` has escaped */
function markUnseen(shown: string) {
  if (!shown.includes('<U+')) return shown;
  return shown.split(mark).map((part, index) =>
    index % 2 === 0 ? (
      part
    ) : (
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one text stand in a fixed order
      <span key={index} className="unseen" title="A character that is invisible, or changes the direction of the text">
        {part}
      </span>
    ),
  );
}

/** A JSON value for a person: texts with their line ends, everything else as JSON. */
export function Value({ value }: { value: unknown }) {
  if (typeof value === 'string') {
    return value === '' ? <span className="muted">empty text</span> : <Text>{value}</Text>;
  }
  if (typeof value === 'object' && value !== null) return <Text>{JSON.stringify(value, null, 2)}</Text>;
  return <Text>{String(value)}</Text>;
}

/** Whether the value needs a frame of its own. */
export const isLongValue = (value: unknown): boolean =>
  typeof value === 'object' && value !== null
    ? Object.keys(value).length > 0
    : typeof value === 'string' && (value.includes('\n') || value.length > 90);

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
