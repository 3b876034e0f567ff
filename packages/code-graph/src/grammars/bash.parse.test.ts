import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';
import { sources } from '../testing/sources.ts';

describe('bash', () => {
  it('reads declarations, imports and uses', async () => {
    expect(await readLines('bash', sources.bash)).toEqual({
      symbols: ['+function greet', '+function leave', '+variable limit', '+constant LAST'],
      imports: ['./a.sh', 'b.sh'],
      references: ['call shout', 'call greet'],
    });
  });
});
