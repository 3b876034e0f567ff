import type { EventType } from '@holdpoint/contract';
import * as all from './all.ts';
import type { Meaning } from './meaning.ts';

const byType: { [Type in EventType]: Meaning<Type> } = { ...all };

/** The effects of each event on the state, the trace and the audit log. The compiler names a missing event. */
// The compiler does not see that the entry of an event has the type of the event.
export const meanings = byType as unknown as Record<EventType, Meaning<EventType>>;
