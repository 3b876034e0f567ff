import { useRef, useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { NumberField } from '../../parts/number-field.tsx';
import { ProblemNote } from '../../parts/text.tsx';
import { useTitle } from '../../parts/use-title.ts';
import { Needs } from '../../session/session.tsx';
import { takeText } from './handed-over.ts';
import { Mistakes } from './mistakes.tsx';
import { PolicyTabs } from './policy-tabs.tsx';
import { PolicyText } from './policy-text.tsx';
import { Replayed } from './replayed.tsx';
import { sinceDays } from './since-days.ts';
import { checkText } from './use-policies.ts';
import { useReplay } from './use-replay.ts';

/** Judges past calls again with another policy. It changes nothing. */
export function ReplayPage() {
  useTitle('Replay');
  return (
    <div className="page">
      <h1>Replay</h1>
      <PolicyTabs />
      <Needs scope="runs:read" to="to judge the calls of past runs again">
        <Needs scope="policies:read" to="to check the text of a policy">
          <Replay />
        </Needs>
      </Needs>
    </div>
  );
}

function Replay() {
  const [text, setText] = useState(() => takeText() ?? 'rules: []\n');
  const [days, setDays] = useState('30');
  const [mistakes, setMistakes] = useState<Parameters<typeof Mistakes>[0]['mistakes']>([]);
  const area = useRef<HTMLTextAreaElement>(null);
  const replay = useReplay();
  const since = sinceDays(days);
  const start = () =>
    replay.start(async () => {
      const checked = await checkText({ text });
      setMistakes(checked.mistakes);
      return checked.document === null || since === undefined ? undefined : { policy: checked.document, since };
    });
  return (
    <>
      <PolicyText ref={area} value={text} onChange={setText} isWrong={mistakes.length > 0} />
      {mistakes.length > 0 && <Mistakes mistakes={mistakes} area={area} />}
      <div className="row">
        <NumberField label="Calls of the last days" most={3650} value={days} onChange={setDays} />
        {replay.isReading ? (
          <Button onClick={replay.stop}>Stop</Button>
        ) : (
          <Button
            kind="main"
            whyNot={since === undefined ? 'The number of days is missing' : undefined}
            onClick={() => void start()}
          >
            Judge them again
          </Button>
        )}
      </div>
      {replay.error !== undefined && <ProblemNote error={replay.error} />}
      {replay.found !== undefined && <Replayed found={replay.found} isReading={replay.isReading} />}
    </>
  );
}
