import type { EventOf, EventType } from '@holdpoint/contract';
import type { TraceState } from './trace-state.ts';

/** A function per event type that updates the spans. `seq`: the event's sequence number. */
export type SpansOf<Type extends EventType> = {
  [One in Type]: (trace: TraceState, event: EventOf<One> & { seq: number }) => void;
};

/** For events that no span shows. */
export const noSpan = (): void => {};
