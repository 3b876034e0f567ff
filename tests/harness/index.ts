export { whyNoDisk } from './disk.ts';
export { formsOf, placesWith } from './find-secret.ts';
export { type GithubSystem, githubToken, useGithubSystem } from './github-system.ts';
export { killAt } from './kill-at.ts';
export { type ModelServer, openModelServer, tokensPerAnswer } from './model-server.ts';
export { type AppProcess, appEnv, projectDir, startApp } from './processes.ts';
export { type PackageRegistry, startRegistry } from './registry.ts';
export { git } from './repositories.ts';
export {
  allowBash,
  approve,
  bash,
  finish,
  finished,
  nextApproval,
  plan,
  published,
  readiness,
  succeed,
} from './runs.ts';
export { mountSmallDisk, type SmallDisk } from './small-disk.ts';
export { processesWith, type System, startSystem } from './system.ts';
export { until } from './until.ts';
export { startUp, type Up } from './up.ts';
export { useModelSystem, useSharedSystem, useSystem } from './use-system.ts';
