import type { PolicyVersion } from '@holdpoint/contract';
import type { PolicySummary } from '@holdpoint/contract/wire';

export const toSummary = ({ document, ...version }: PolicyVersion): PolicySummary => ({
  ...version,
  rules: document.rules.length,
});
