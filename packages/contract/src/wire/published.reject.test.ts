import { expect, test } from 'vitest';
import { messageOfTitle } from '../publish.ts';
import { publishSchema } from './published.ts';

const hidden = ['\u001b[31m', '\u0000', '\r', '\u202e', '\u2066', '\u200f', '\u009b'];

test.each(hidden)('a message, a branch and an author with %j are refused, and the error says why', (text) => {
  for (const asked of [
    { message: `fix${text}it` },
    { branch: `fix${text}it` },
    { author: { name: `Ada${text}`, email: 'ada@example.org' } },
  ]) {
    const { error } = publishSchema.safeParse(asked);
    expect([asked, error?.issues[0]?.message]).toEqual([asked, expect.stringContaining('control characters')]);
  }
});

test('lines, tabs and letters of every script are taken', () => {
  const message = 'fix\n\n\tdas Größte, 修复, תיקון 👩‍👩‍👧';
  expect(publishSchema.parse({ message, branch: 'correção' })).toMatchObject({ message });
});

test('a title becomes a message without them', () => {
  expect(messageOfTitle(`fix ${hidden.join('')}it`)).toBe('fix [31mit');
  expect(messageOfTitle('\u202e')).toBe('Change set of a run');
});
