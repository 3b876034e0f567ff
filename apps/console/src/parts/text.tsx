import { plain } from '@holdpoint/readable/unseen';
import { memo } from 'react';

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
