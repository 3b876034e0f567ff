import { Readable } from 'node:stream';
import { setImmediate as breathe } from 'node:timers/promises';

const atOnce = 64 * 1024;

/** An object as JSON, in pieces: one of its fields is a list of any length, and the other requests get their turn while it is written. */
export function streamJson<Value extends object>(value: Value, list: keyof Value & string): Value {
  const lists = value as Value & Record<string, readonly unknown[]>;
  // Typed as what it holds, so that it is checked against the schema of the route.
  return Readable.from(pieces(lists, list), { objectMode: false }) as unknown as Value;
}

async function* pieces(value: Record<string, readonly unknown[]>, list: string): AsyncGenerator<string> {
  const frame = JSON.stringify({ ...value, [list]: [] });
  // Within a string each quote is escaped, so this is the field itself.
  const at = frame.indexOf(`"${list}":[]`) + list.length + 4;
  let piece = frame.slice(0, at);
  for (const [index, item] of (value[list] ?? []).entries()) {
    piece += (index === 0 ? '' : ',') + JSON.stringify(item);
    if (piece.length < atOnce) continue;
    yield piece;
    piece = '';
    await breathe();
  }
  yield piece + frame.slice(at);
}
