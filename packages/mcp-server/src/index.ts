export type { McpServerDeps } from './open-server.ts';
export { answerMcp, serveMcpOnStdio } from './open-server.ts';
