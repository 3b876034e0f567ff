import type { Payload } from '@holdpoint/contract';

/** The value of a payload, or the beginning of its JSON text when it is large. */
export const payloadValue = (payload: Payload): unknown => ('json' in payload ? payload.json : payload.preview);
