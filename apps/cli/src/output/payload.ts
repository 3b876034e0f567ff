import type { Payload } from '@holdpoint/contract';

/** A payload's value; of a large one only the beginning of its JSON text is at hand. */
export const payloadValue = (payload: Payload): unknown => ('json' in payload ? payload.json : payload.preview);
