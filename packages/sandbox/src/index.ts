export { type BwrapSearch, type FoundBwrap, findBwrap } from './bubblewrap/host-tools.ts';
export { proxyPort as egressPort } from './bubblewrap/proxy-port.ts';
export { SandboxError } from './errors.ts';
export { resolveLimits } from './limits.ts';
export { isIsolated, openSandbox } from './open-sandbox.ts';
export type {
  Command,
  CommandEgress,
  HostProgram,
  ProgramProcess,
  Runtime,
  Sandbox,
  WorkspaceMount,
} from './port.ts';
export { selectRuntime } from './runtimes.ts';
export { findToolchains } from './toolchains.ts';
export { WholeOutput } from './whole-output.ts';
