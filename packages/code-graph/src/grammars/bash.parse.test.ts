import { describe, expect, it } from 'vitest';
import { readLines } from '../testing/read-facts.ts';

describe('bash', () => {
  it('reads declarations, imports and uses', async () => {
    expect(
      await readLines(
        'bash',
        `
source ./a.sh; . "b.sh"
greet() { local x=1; shout "$x"; }
function leave { greet; }
limit=1; readonly LAST=3
`,
      ),
    ).toEqual({
      symbols: ['+function greet', '+function leave', '+variable limit', '+constant LAST'],
      imports: ['./a.sh', 'b.sh'],
      references: ['call shout', 'call greet'],
    });
  });
});
