import { describe, expect, it } from 'vitest';
import { nearestNames } from './nearest-names.ts';

const names = ['read_file', 'write_file', 'edit', 'list_directory', 'glob', 'grep', 'bash', 'todo_write'];

describe('nearestNames', () => {
  it.each([
    ['ReadFile', 'read_file'],
    ['read-files', 'read_file'],
    ['listdir', 'list_directory'],
    ['Bash', 'bash'],
    ['gerp', 'grep'],
  ])('finds the name meant by %s', (wanted, meant) => expect(nearestNames(wanted, names)[0]).toBe(meant));

  it('lists some names when none is near', () =>
    expect(nearestNames('qqqqqqqqqqqqqqqqqqqqqqqqq', names)).toHaveLength(3));

  it('lists each name once, up to the limit', () => {
    expect(nearestNames('write', names, 2)).toHaveLength(2);
    expect(new Set(nearestNames('e', names, 99)).size).toBe(nearestNames('e', names, 99).length);
  });

  it('accepts an invented name of any length', () =>
    expect(nearestNames('x'.repeat(1_000_000), names, 1)).toHaveLength(1));
});

it('of two names that differ in case alone the one with the same case is nearer', () => {
  expect(nearestNames('edti', ['Edit', 'edit'])[0]).toBe('edit');
  expect(nearestNames('Edti', ['edit', 'Edit'])[0]).toBe('Edit');
});
