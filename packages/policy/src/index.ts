export * from './command/classify-command.ts';
export * from './command/command-class.ts';
export * from './command/list-deletions.ts';
export * from './command/parse-command.ts';
export * from './command/simple-command.ts';
export * from './command/table/command-table.ts';
export * from './command/table/default-table.ts';
export type { CatalogTool, PolicyProblem } from './document/check-catalog.ts';
export { type PlacedProblem, placeProblems } from './document/check-catalog.ts';
export { checkRules } from './document/check-rules.ts';
export { type Parsed, parsePolicy, parsePolicyValue, readYaml } from './document/parse-policy.ts';
export { schemaProblems } from './document/schema-problems.ts';
export { stricterPolicy } from './document/stricter-policy.ts';
export { builtinPolicy } from './judge/builtin.ts';
export { commandFacts, describeTouches, nothingTouched } from './judge/command-facts.ts';
export {
  type CompiledPolicy,
  compilePolicy,
  policyDigest,
  type ToolsetPolicy,
  toolsetPolicy,
  toolsetPrefix,
} from './judge/compile-policy.ts';
export { type Explanation, explain, type PartExplanation, type RuleExplanation } from './judge/explain.ts';
export { type BoundPolicies, builtin, findCaution, judge, type NamedPolicy } from './judge/judge.ts';
export { onlyReads } from './judge/only-reads.ts';
export { readingPrograms } from './judge/reading-programs.ts';
export type { CallFacts, CommandFact, Touches } from './match/call-facts.ts';
export { compileGlob, GlobError } from './match/glob.ts';
export { forbiddenPaths } from './permissions/forbidden-paths.ts';
export {
  type AskedGrants,
  compilePermissions,
  grantProblems,
  narrowWritten,
  openHosts,
  type Permission,
  parsePermissions,
  type WrittenGrants,
  widened,
} from './permissions/grants.ts';
export { deniedByModes, type Permitted, permits, protectedPath } from './permissions/permits.ts';
export { readablePaths } from './permissions/readable-paths.ts';
export { attention } from './replay/attention.ts';
export { type ProposedRules, proposeRules } from './replay/propose-rules.ts';
export type { RecordedCall } from './replay/recorded-call.ts';
