import { hash } from 'node:crypto';
import { eventSchema, idPrefixes, type LoggedEvent, type RunEvent } from '@holdpoint/contract';
import { isoOf, msOf } from '../domain/iso-time.ts';
import { lengthen, shorten } from './phrases.ts';

/**
 * The text of an event in a log: `[type, time, data, step]`. The time is in milliseconds since the epoch; the step's id is in base64url, and
 * left out where there is none. Texts that stand in most events are one character each (`phrases.ts`). What the key and the text say already
 * is not stored: the run, and the id of the event, which is computed.
 * A no-op step takes less than half of what whole events took, which earlier versions wrote: both forms are read.
 */
export function toStored(event: RunEvent): string {
  const { type, time, data } = event;
  const step = 'step_id' in event && event.step_id !== undefined ? [shortStepId(event.step_id)] : [];
  return shorten(JSON.stringify([type, msOf(time) ?? time, data, ...step]));
}

/** @throws an error when the text is no event */
export const fromStored = (runId: string, seq: number, text: string): LoggedEvent => ({
  ...eventSchema.parse(readStored(runId, seq, text)),
  seq,
});

/**
 * The event as an append recorded it. An append checks each event, so its shape is not checked again, and its id is empty: each of the two
 * costs as much as to parse it.
 * @throws an error when the text, which another program wrote, is no event at all
 */
export function recordedEvent(runId: string, seq: number, text: string): LoggedEvent {
  const event = readStored(runId, seq, text, false) as LoggedEvent | null;
  if (typeof event?.type !== 'string' || typeof event.time !== 'string') throw new Error('the text is no event');
  return { ...event, seq };
}

/** The event without a check of its shape. @param isNamed false: its id is empty, because a hash per event costs as much as to parse it */
export function readStored(runId: string, seq: number, text: string, isNamed = true): unknown {
  const stored: unknown = JSON.parse(text.startsWith('[') ? lengthen(text) : text);
  if (!Array.isArray(stored)) return stored;
  const [type, at, data, step] = stored as [string, number | string, unknown, string?];
  const time = typeof at === 'number' ? isoOf(at) : at;
  const id = isNamed ? eventId({ runId, seq, time }, text) : '';
  const event = { id, type, run_id: runId, time, data };
  return step === undefined ? event : { ...event, step_id: wholeStepId(step) };
}

/** Whether the text is an event of one of these types. Ten times as fast as to read the event. @param types as an alternation of a regular expression */
export const isOfType = (types: string): RegExp => new RegExp(`^\\["(${types})"|"type":"(${types})"`);

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;
const stepPrefix = `${idPrefixes.step}_`;

function shortStepId(id: string): string {
  const bare = id.slice(stepPrefix.length);
  return id.startsWith(stepPrefix) && uuid.test(bare)
    ? Buffer.from(bare.replaceAll('-', ''), 'hex').toString('base64url')
    : id;
}

let lastStep = { stored: '', whole: '' };

/** The events of a step follow each other, so the last answer is kept. */
function wholeStepId(stored: string): string {
  if (stored.startsWith(stepPrefix)) return stored;
  if (stored !== lastStep.stored) {
    lastStep = { stored, whole: stepPrefix + dashed(Buffer.from(stored, 'base64url').toString('hex')) };
  }
  return lastStep.whole;
}

/** A UUIDv7 of the event's time that is the same in every process. */
function eventId({ runId, seq, time }: { runId: string; seq: number; time: string }, text: string): string {
  const hex = hash('sha256', `${runId} ${seq} ${text}`);
  const ms = Math.max(0, Date.parse(time)).toString(16).padStart(12, '0').slice(-12);
  const variant = '89ab'[Number.parseInt(hex[3] ?? '0', 16) % 4];
  return `${idPrefixes.event}_${dashed(`${ms}7${hex.slice(0, 3)}${variant}${hex.slice(4, 19)}`)}`;
}

const dashed = (hex: string): string =>
  [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
