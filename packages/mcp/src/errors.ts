/** A mistake of the operator or of a server, in words for a person. */
export class McpError extends Error {
  override name = 'McpError';
  readonly code:
    | 'EMCPCONFIG'
    | 'EMCPSERVER'
    | 'EMCPCHANGED'
    | 'EMCPTOOBIG'
    | 'EMCPINPUT'
    /** The server needs a login of a person. */
    | 'EMCPLOGIN'
    /** An authorization server failed, or cannot be trusted. */
    | 'EMCPAUTH';
  readonly next: string;

  constructor(code: McpError['code'], message: string, next: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.next = next;
  }
}
