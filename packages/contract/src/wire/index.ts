export * from './approval.ts';
export * from './approval-context.ts';
export * from './approval-list.ts';
export * from './audit.ts';
export * from './calls.ts';
export * from './comment.ts';
export * from './decide.ts';
export * from './diff.ts';
export * from './eval.ts';
export * from './event.ts';
export * from './followed-pull-request.ts';
export * from './fork.ts';
export * from './instructions.ts';
export * from './key.ts';
export * from './mcp-server.ts';
export * from './operation.ts';
export * from './page.ts';
export * from './passkey.ts';
export * from './pattern.ts';
export * from './policy.ts';
export * from './presence.ts';
export * from './problem.ts';
export * from './published.ts';
export * from './push.ts';
export * from './quota.ts';
export {
  listRulesQuerySchema,
  type RememberedRule,
  rememberedRulePageSchema,
  rememberedRuleSchema,
} from './remembered-rule.ts';
export * from './run.ts';
export * from './schedule.ts';
export * from './secret.ts';
export * from './session.ts';
export * from './snapshot.ts';
export * from './step.ts';
export * from './task.ts';
export * from './tool.ts';
export * from './trace.ts';
export * from './turn.ts';
export * from './webhook.ts';
