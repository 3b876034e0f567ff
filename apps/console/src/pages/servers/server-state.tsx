import type { McpServer } from '@holdpoint/contract/wire';
import { Badge, type Tone } from '../../parts/note.tsx';

const tones: Record<McpServer['state'], Tone> = {
  accepted: 'good',
  waiting: 'warn',
  changed: 'warn',
  needs_login: 'warn',
  unreachable: 'bad',
  invalid: 'bad',
};

const words: Record<McpServer['state'], string> = {
  accepted: 'accepted',
  waiting: 'waits for a person',
  changed: 'changed',
  needs_login: 'needs a login',
  unreachable: 'does not answer',
  invalid: 'cannot be used',
};

export const ServerState = ({ of: { state, offered } }: { of: McpServer }) => (
  <>
    <Badge tone={tones[state]}>{words[state]}</Badge>
    {(state === 'unreachable' || state === 'needs_login') && offered && <Badge>accepted before</Badge>}
  </>
);
