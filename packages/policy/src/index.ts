export * from './command/command-class.ts';
export { builtinPolicy } from './judge/builtin.ts';
export type { CallFacts, CommandFact, Touches } from './judge/call-facts.ts';
export { type CompiledPolicy, compilePolicy, policyDigest } from './judge/compile-policy.ts';
export { describeTouches } from './judge/describe-touches.ts';
export { type BoundPolicies, judge, type NamedPolicy } from './judge/judge.ts';
