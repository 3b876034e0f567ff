import { hash } from 'node:crypto';
import { eventSchema, type LoggedEvent, type RunEvent } from '@holdpoint/contract';
import { idPrefixes } from '@holdpoint/contract/names';
import { isoOf, msOf } from '../domain/iso-time.ts';
import { lengthen, shorten } from './event-dictionary.ts';

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

const stepPrefix = `${idPrefixes.step}_`;

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

/**
 * The text of an event in a log: `[type, time, data, step]`. The time is in milliseconds since the epoch; the step's id is in base64url,
 * and left out for an event without a step. Texts common to most events are one character each (`event-dictionary.ts`). The text
 * leaves out the run, known from the key, and the id of the event, which readers compute.
 * A no-op step takes less than half the space of whole events. Earlier versions wrote whole events: both forms are read.
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
 * Matches the text of events of these types. Ten times as fast as reading the event. @param types as an alternation of a regular expression
 */
export const isOfType = (types: string): RegExp => new RegExp(`^\\["(${types})"|"type":"(${types})"`);

const uuid = /^([0-9a-f]{8})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{4})-([0-9a-f]{12})$/;

let lastShort = { id: '', short: '' };

/** Several events of an append belong to the same step, so the last short id is kept. */
function shortStepId(id: string): string {
  if (lastShort.id !== id) lastShort = { id, short: inBase64(id) };
  return lastShort.short;
}

function inBase64(id: string): string {
  const bare = id.slice(stepPrefix.length);
  return id.startsWith(stepPrefix) && uuid.test(bare)
    ? Buffer.from(bare.replaceAll('-', ''), 'hex').toString('base64url')
    : id;
}
