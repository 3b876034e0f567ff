import { tokensOf } from '@holdpoint/models';
import { expect, test } from 'vitest';
import { registry, specOfPrompt } from '../testing/planned-run.ts';
import { systemText } from './ask-model.ts';

const scope = { tenant: 'default', secrets: [] };

test.each(registry.toolsets())('the prompt of %s is short, and the same for each request', (toolset) => {
  const spec = { ...specOfPrompt('Go.'), toolset };
  const text = systemText(registry, { spec, scope });
  expect(tokensOf(text)).toBeLessThan(1500);
  expect(systemText(registry, { spec: structuredClone(spec), scope })).toBe(text);
});
