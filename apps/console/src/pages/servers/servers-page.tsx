import type { McpServer } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { Button } from '../../parts/button.tsx';
import { Empty, Loading } from '../../parts/empty.tsx';
import { ProblemNote } from '../../parts/problem-note.tsx';
import { Text } from '../../parts/text.tsx';
import { Ago } from '../../parts/time.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/needs.tsx';
import { useWhyNot } from '../../session/session.tsx';
import { AddServer } from './add-server.tsx';
import { ServerState } from './server-state.tsx';
import { useServerList } from './use-servers.ts';

/** The outside MCP servers of the installation. */
export function ServersPage() {
  useTitle('MCP servers');
  const [, go] = useLocation();
  const whyNot = useWhyNot('mcp:write');
  const [isAdding, setAdding] = useState(false);
  return (
    <div className="page">
      <div className="page-head">
        <h1>MCP servers</h1>
        <Button kind="main" icon="plus" whyNot={whyNot} onClick={() => setAdding(true)}>
          Add a server
        </Button>
      </div>
      <p className="muted">
        Outside servers whose tools runs may call. No run uses one before a person has seen and accepted what it says.
      </p>
      <Needs scope="mcp:read" to="to see the servers">
        <ServerList />
      </Needs>
      {isAdding && <AddServer onAdded={(name) => go(`/servers/${name}`)} onClose={() => setAdding(false)} />}
    </div>
  );
}

function ServerList() {
  const { data, error, isPending } = useServerList();
  if (error) return <ProblemNote error={error} />;
  if (isPending) return <Loading of="the servers" />;
  if (data.data.length === 0) {
    return (
      <Empty icon="out" title="No server yet">
        <p>A server is an address, or a program that runs in the sandbox of each run.</p>
      </Empty>
    );
  }
  return (
    <ul className="card rows" aria-label="MCP servers">
      {data.data.map((server) => (
        <ServerLine key={server.name} server={server} />
      ))}
    </ul>
  );
}

function ServerLine({ server }: { server: McpServer }) {
  const { name, entry, why, accepted, effect } = server;
  const place = entry?.url ?? [entry?.command ?? '', ...(entry?.args ?? [])].join(' ');
  return (
    <li className="line plain">
      <div className="line-body">
        <div className="row">
          <Link href={`/servers/${encodeURIComponent(name)}`} className="line-link" data-row="">
            <Text most={80}>{name}</Text>
          </Link>
          <ServerState of={server} />
        </div>
        <div className="line-meta">
          {place !== '' && (
            <code className="server-place">
              <Text most={200}>{place}</Text>
            </code>
          )}
          {effect !== null && <span>effect: {effect}</span>}
          {accepted !== null && (
            <span>
              {accepted.tools.length} {accepted.tools.length === 1 ? 'tool' : 'tools'} accepted <Ago at={accepted.at} />
            </span>
          )}
        </div>
        {why !== null && (
          <p className="small muted">
            <Text most={300}>{why}</Text>
          </p>
        )}
      </div>
    </li>
  );
}
