import { expect, test } from 'vitest';
import { createRegistry } from '../../registry/registry.ts';
import { renderDefinitions } from '../../registry/render-definitions.ts';
import { ryan } from './toolset.ts';

const registry = createRegistry([ryan]);
const [bash] = registry.list('ryan');

// covers S1-44
test('the mcp form of the contract has the type of a tool', () => {
  const [first] = ryan.forms?.mcp?.(registry.list('ryan')) ?? [];
  expect(first).toEqual({
    ...{ name: 'execute_bash', type: 'tool' },
    description: bash?.description,
    inputSchema: bash?.input_schema,
  });
});

// covers S1-40, S1-41, S1-42, S1-43, S1-45
test('other forms are those of the providers, and an unknown one is refused', () => {
  const [tool] = registry.list('ryan');
  const form = (name: string) => renderDefinitions(ryan, name, registry.list('ryan'))[0];
  const { name, description, input_schema } = tool ?? {};
  expect(form('anthropic')).toEqual({ name, description, input_schema });
  expect(form('openai')).toEqual({ type: 'function', function: { name, description, parameters: input_schema } });
  expect(form('ollama')).toEqual(form('openai'));
  expect(() => form('unknown')).toThrow('provider');
});
