export { type ApprovalRule, matchesRule } from './approval-rules.ts';
export { humanForm, jsonForm } from './output-forms.ts';
