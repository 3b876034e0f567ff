import { Readable } from 'node:stream';
import { setImmediate as yieldToOthers } from 'node:timers/promises';

const pieceLength = 64 * 1024;

/** An object as JSON, in pieces: a list of any length in a field does not block other requests. */
export function streamJson<Value extends object>(value: Value, list: keyof Value & string): Value {
  const lists = value as Value & Record<string, readonly unknown[]>;
  // Typed as its content: the compiler checks the stream against the schema of the route.
  return Readable.from(pieces(lists, list), { objectMode: false }) as unknown as Value;
}

async function* pieces(value: Record<string, readonly unknown[]>, list: string): AsyncGenerator<string> {
  const frame = JSON.stringify({ ...value, [list]: [] });
  // JSON escapes quotes in strings, so the match is the field's own name.
  const at = frame.indexOf(`"${list}":[]`) + list.length + 4;
  let piece = frame.slice(0, at);
  for (const [index, item] of (value[list] ?? []).entries()) {
    piece += (index === 0 ? '' : ',') + JSON.stringify(item);
    if (piece.length < pieceLength) continue;
    yield piece;
    piece = '';
    await yieldToOthers();
  }
  yield piece + frame.slice(at);
}
