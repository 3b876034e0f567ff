import { expect, test } from 'vitest';
import { createRegistry } from '../../registry.ts';
import { ryan } from './toolset.ts';

// covers S1-44
test('the mcp form of the contract has a type', () => {
  const tools = createRegistry([ryan]).inForm('ryan', 'mcp');
  expect(tools).toContainEqual({
    ...{ name: 'execute_bash', description: expect.any(String), type: 'tool' },
    inputSchema: expect.objectContaining({ type: 'object', required: ['command'] }),
  });
});
