import type { IssuedKey } from '@holdpoint/contract/wire';
import { useState } from 'react';
import { Button } from '../../parts/button.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { Note } from '../../parts/note.tsx';
import { Text } from '../../parts/text.tsx';

/** The text of a key, this once: it is in this dialog alone, and gone with it. Escape does not close it by a slip. */
export function Issued({ issued, onClose }: { issued: IssuedKey; onClose: () => void }) {
  const [isCopied, setCopied] = useState(false);
  const copy = () => navigator.clipboard.writeText(issued.key).then(() => setCopied(true));
  return (
    <Dialog
      title={
        <>
          The text of <Text>{issued.name}</Text>
        </>
      }
      mayClose={false}
      onClose={onClose}
    >
      <Note tone="warn" title="It is shown this once">
        Nothing stores it. Keep it where its holder keeps secrets; if it is lost, rotate the key.
      </Note>
      <pre className="text-block issued">{issued.key}</pre>
      <div className="dialog-foot">
        {'clipboard' in navigator && (
          <Button icon="copy" onClick={() => void copy().catch(() => setCopied(false))}>
            {isCopied ? 'Copied' : 'Copy'}
          </Button>
        )}
        <Button kind="main" onClick={onClose}>
          I have kept it
        </Button>
      </div>
    </Dialog>
  );
}
