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
  ])('finds what %s meant', (wanted, meant) => {
    expect(nearestNames(wanted, names)[0]).toBe(meant);
  });

  it('names some when nothing is near', () => {
    expect(nearestNames('qqqqqqqqqqqqqqqqqqqqqqqqq', names)).toHaveLength(3);
  });

  it('names each at most once, and no more than asked for', () => {
    expect(nearestNames('write', names, 2)).toHaveLength(2);
    expect(new Set(nearestNames('e', names, 99)).size).toBe(nearestNames('e', names, 99).length);
  });

  it('copes with a made-up name of any length', () => {
    expect(nearestNames('x'.repeat(1_000_000), names, 1)).toHaveLength(1);
  });
});
