import type { Approval } from '@holdpoint/contract/wire';
import { LongText } from '../../parts/reading.tsx';
import { Text } from '../../parts/text.tsx';

/** The call that was read, and the call as it is now. */
export const SideBySide = ({ before, after }: { before: Approval; after: Approval }) => (
  <div className="side-by-side">
    <Side title="What you read" approval={before} />
    <Side title="What it is now" approval={after} />
  </div>
);

const Side = ({ title, approval: { readable, reaches, reason } }: { title: string; approval: Approval }) => (
  <section className="stack">
    <h3>{title}</h3>
    <LongText label={`Arguments: ${title}`} counts={false}>
      <pre>
        <Text escaped>{`${readable.args}\n\nhosts: ${reaches?.join(', ') || 'none'}\nheld because: ${reason}`}</Text>
      </pre>
    </LongText>
    {readable.preview !== null && (
      <LongText label={`Effect: ${title}`} counts={false}>
        <pre>
          <Text escaped>{readable.preview}</Text>
        </pre>
      </LongText>
    )}
  </section>
);
