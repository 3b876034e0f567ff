export type { JudgedServer } from './acceptances.ts';
export { acceptServer, addServer, type ByWhom, forgetChanges, noteLogin, removeServer } from './change-servers.ts';
export { McpError } from './errors.ts';
export { followTools, isInForce } from './follow-tools.ts';
export { digestOfLook, type Look, type LookFailure, lookOf, lookSchema } from './look-record.ts';
export { lacksLogin, loginsOf } from './oauth/login.ts';
export { checkName, serversFile } from './server-file.ts';
export { acceptedServers, followServers, openServerStore, readServers, type ServerStore } from './server-store.ts';
export { serverTools } from './server-tools.ts';
export {
  type Accepted,
  acceptanceDigest,
  entryDigest,
  entryOf,
  hostOf,
  isHttp,
  type McpServer,
  secretsOf,
  serverSchema,
  withOAuth,
} from './servers.ts';
export { toolName } from './tool-name.ts';
