import type { Conversation } from '@holdpoint/tools';
import { deserializeMessage, type JSONRPCMessage, type Transport } from '@modelcontextprotocol/client';

/** The transport over standard input and output, of a program in a sandbox. */
export class LinesTransport implements Transport {
  readonly #lines: Conversation;
  #isClosed = false;
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;

  constructor(lines: Conversation) {
    this.#lines = lines;
  }

  async start(): Promise<void> {
    void this.#read();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#isClosed) throw new Error('The server has ended.');
    this.#lines.send(JSON.stringify(message));
  }

  async close(): Promise<void> {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onclose?.();
  }

  async #read(): Promise<void> {
    for (;;) {
      const line = await this.#lines.receive();
      if (line === undefined) return this.close();
      if (this.#isClosed) return;
      const message = messageIn(line);
      if (message !== undefined) this.onmessage?.(message);
    }
  }
}

/** Undefined for another line: programs also print words. */
function messageIn(line: string): JSONRPCMessage | undefined {
  try {
    return deserializeMessage(line);
  } catch {
    return undefined;
  }
}
