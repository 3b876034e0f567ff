import { hash } from 'node:crypto';
import type { LoggedEvent } from '@holdpoint/contract';
import { idPrefixes } from '@holdpoint/contract/names';
import { isoOf } from '../domain/iso-time.ts';
import { lengthen } from './event-dictionary.ts';

/**
 * The event recorded by an append. The append has checked the event, so its shape is not checked again, and its id is empty: either would
 * cost as much as the parsing.
 * @throws an error when the text, written by another program, is no event at all
 */
export function recordedEvent(runId: string, seq: number, text: string): LoggedEvent {
  const event = readStored(runId, seq, text, false) as LoggedEvent | null;
  if (typeof event?.type !== 'string' || typeof event.time !== 'string') throw new Error('the text is no event');
  return { ...event, seq };
}

/** The event without a check of its shape. @param isNamed false: its id is empty, because a hash per event costs as much as the parsing */
export function readStored(runId: string, seq: number, text: string, isNamed = true): unknown {
  const stored: unknown = JSON.parse(text.startsWith('[') ? lengthen(text) : text);
  if (!Array.isArray(stored)) return stored;
  const [type, at, data, step] = stored as [string, number | string, unknown, string?];
  const time = typeof at === 'number' ? isoOf(at) : at;
  const id = isNamed ? eventId({ runId, seq, time }, text) : '';
  const event = { id, type, run_id: runId, time, data };
  return step === undefined ? event : { ...event, step_id: wholeStepId(step) };
}

export const stepPrefix = `${idPrefixes.step}_`;

let lastStep = { stored: '', whole: '' };

/** The events of a step follow each other, so the last answer is kept. */
function wholeStepId(stored: string): string {
  if (stored.startsWith(stepPrefix)) return stored;
  if (stored !== lastStep.stored) {
    lastStep = { stored, whole: stepPrefix + dashed(Buffer.from(stored, 'base64url').toString('hex')) };
  }
  return lastStep.whole;
}

/** A UUIDv7 of the event's time, the same in every process. */
function eventId({ runId, seq, time }: { runId: string; seq: number; time: string }, text: string): string {
  const hex = hash('sha256', `${runId} ${seq} ${text}`);
  const ms = Math.max(0, Date.parse(time)).toString(16).padStart(12, '0').slice(-12);
  const variant = '89ab'[Number.parseInt(hex[3] ?? '0', 16) % 4];
  return `${idPrefixes.event}_${dashed(`${ms}7${hex.slice(0, 3)}${variant}${hex.slice(4, 19)}`)}`;
}

const dashed = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
