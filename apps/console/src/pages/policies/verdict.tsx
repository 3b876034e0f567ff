import type { IconName } from '../../parts/button.tsx';
import { Badge, type Tone } from '../../parts/note.tsx';

type Action = 'allow' | 'hold' | 'deny';

const looks: Record<Action, [Tone, IconName, string]> = {
  allow: ['good', 'check', 'allowed'],
  hold: ['warn', 'hold', 'held'],
  deny: ['bad', 'cross', 'denied'],
};

export function Verdict({ action }: { action: Action }) {
  const [tone, icon, word] = looks[action];
  return (
    <Badge tone={tone} icon={icon}>
      {word}
    </Badge>
  );
}
