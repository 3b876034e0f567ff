import { type JudgedServer, lacksLogin, McpError, readServers, serversFile } from '@holdpoint/mcp';
import { operatorLogins } from '@holdpoint/runtime/saved-logins';
import { counted, oneLine } from '../output/index.ts';
import { type Config, commandLine } from '../shell/index.ts';
import type { Finding } from './finding.ts';

const name = 'mcp servers';

/** The outside MCP servers in the operator's file. Asks none of them. */
export async function checkServers({
  dataDir,
  environment,
}: Pick<Config, 'dataDir' | 'environment'>): Promise<Finding[]> {
  try {
    const servers = readServers(serversFile(dataDir, environment), dataDir);
    const saved = operatorLogins(dataDir);
    return [...servers].map(([server, judged]) => judgeServer(server, judged, saved));
  } catch (error) {
    if (!(error instanceof McpError)) throw error;
    const next = `${error.next} Neither the API nor a worker starts with it, and those that run call no server.`;
    return [{ name, level: 'fail', text: error.message, next }];
  }
}

const wantsLogin = (server: string): Finding => ({
  ...{ name, level: 'warn', text: `${server} has no login, so calls of its tools fail` },
  next: `Log in: ${commandLine('mcp', 'login', server)}`,
});

/** @param saved names of logins */
function judgeServer(server: string, judged: JudgedServer, saved: readonly string[]): Finding {
  if (judged.state === 'invalid') {
    const next = 'Correct its entry. The other servers are used.';
    return { name, level: 'fail', text: `${oneLine(server)} cannot be used: ${oneLine(judged.why, 300)}`, next };
  }
  // A person looks at a changed entry before the address in it gets a login.
  if (judged.state !== 'changed' && lacksLogin(server, judged.server, saved)) return wantsLogin(server);
  const { accepted, toolsets } = judged.server;
  if (judged.state !== 'accepted' || accepted === undefined) {
    const why = judged.state === 'changed' ? judged.why : 'it is not accepted';
    const next = `Look at its entry and its tools, and accept them: ${commandLine('mcp', 'accept', server)}`;
    return { name, level: 'warn', text: `no run has the tools of ${server}: ${why}`, next };
  }
  const left = Object.keys(accepted.left_out).length;
  const more = left === 0 ? '' : `, ${left} left out`;
  const text = `${server}: ${counted(accepted.tools.length, 'tool')} of ${toolsets.join(', ')}${more}, accepted on ${accepted.at.slice(0, 10)}`;
  return { name, level: 'ok', text };
}
