import type { LiveFrame } from '@holdpoint/contract';

/** What a source has written so far. */
export interface Written {
  key: string;
  kind: LiveFrame['kind'];
  turn: number | undefined;
  stepId: string | undefined;
  since: string;
  text: string;
  /** End of `text` in the whole text of the source. */
  end: number;
  hasEnded: boolean;
}

/** Longest kept text of a source, in UTF-16 units; its beginning is dropped first. */
const longest = 200_000;

/** Adds a piece of text to what its source has written before. */
export function join(key: string, before: Written | undefined, frame: LiveFrame): Written {
  const { kind, turn, step_id: stepId, since, offset, ended } = frame;
  const known = before?.since === since ? before : { text: '', end: 0 };
  // After a cut the stream begins again with known text.
  const news = frame.text.slice(Math.max(0, known.end - offset));
  // Text between the end of the last piece and this piece is gone: the page says so instead of joining them.
  const tear = offset > known.end ? `${known.text === '' ? '' : '\n'}[…]\n` : '';
  const text = `${known.text}${tear}${news}`.slice(-longest);
  const end = Math.max(known.end, offset + frame.text.length);
  return { key, kind, turn, stepId, since, text, end, hasEnded: ended === true };
}
