import type { Schedule } from '@holdpoint/contract/wire';
import { Badge, type Tone } from '../../parts/badge.tsx';
import { Text } from '../../parts/text.tsx';

const tones: Record<Schedule['status'], Tone> = { active: 'good', paused: 'warn', ended: 'quiet' };

export const ScheduleState = ({ of: { status, failures } }: { of: Schedule }) => (
  <>
    <Badge tone={tones[status]}>{status}</Badge>
    {failures > 0 && <Badge tone="bad">{failures} failed in a row</Badge>}
  </>
);

export const When = ({ of: { cron, every_s, zone } }: { of: Schedule }) =>
  cron === undefined ? (
    <span>every {every_s} s</span>
  ) : (
    <span>
      <code>
        <Text most={100}>{cron}</Text>
      </code>{' '}
      <Text most={64}>{zone}</Text>
    </span>
  );
