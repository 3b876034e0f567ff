import type { z } from 'zod';

/** A mistake that a schema found, in words for people. */
export function issueText({ code, message, ...issue }: z.core.$ZodIssue): string {
  const expected = 'expected' in issue ? issue.expected : undefined;
  if (code !== 'invalid_type' || typeof expected !== 'string') return message.replace(/^Invalid input: /, '');
  if (expected === 'nonoptional' || /received undefined$/.test(message)) return 'this is missing';
  const received = /received (\w+)$/.exec(message)?.[1];
  return `expected ${nouns[expected] ?? expected}${received === undefined ? '' : `, not ${nouns[received] ?? received}`}`;
}

const nouns: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'a list',
  object: 'a mapping',
  record: 'a mapping',
  null: 'nothing',
};
