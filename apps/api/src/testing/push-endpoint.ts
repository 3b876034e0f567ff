import { createDecipheriv, createECDH, createPublicKey, hkdfSync, randomBytes, verify } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { CreatePushSubscription } from '@holdpoint/contract/wire';

interface Received {
  headers: IncomingHttpHeaders;
  text: unknown;
}

/** A push service and its browser on this machine: takes pushes, and decrypts them with the keys of the browser. */
export interface PushEndpoint {
  subscription: CreatePushSubscription;
  received: Received[];
  /** Answers with this status next, as often as named; then with 201. */
  refuse(status: number, times?: number, headers?: Record<string, string>): void;
  /** Takes pushes, and answers when the returned function is called. */
  withhold(): () => void;
  /** Requests, refused ones included. */
  asked(): number;
  stop(): Promise<void>;
  /** Listens again at the same address. */
  back(): Promise<void>;
}

export async function startPushEndpoint(): Promise<PushEndpoint> {
  const curve = createECDH('prime256v1');
  const publicKey = curve.generateKeys();
  const auth = randomBytes(16);
  const received: Received[] = [];
  let asked = 0;
  let answers = Promise.resolve();
  let refusals: { status: number; headers: Record<string, string> }[] = [];
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    asked += 1;
    const refusal = refusals.shift();
    if (refusal !== undefined) {
      response.writeHead(refusal.status, refusal.headers).end();
      return;
    }
    const text = JSON.parse(decrypt(Buffer.concat(chunks), { curve, publicKey, auth }));
    received.push({ headers: request.headers, text });
    await answers;
    response.writeHead(201).end();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    subscription: {
      endpoint: `http://127.0.0.1:${port}/push/1`,
      keys: { p256dh: publicKey.toString('base64url'), auth: auth.toString('base64url') },
    },
    received,
    refuse(status, times = 1, headers = {}) {
      refusals = Array.from({ length: times }, () => ({ status, headers }));
    },
    withhold() {
      const { promise, resolve } = Promise.withResolvers<void>();
      answers = promise;
      return resolve;
    },
    asked: () => asked,
    async back() {
      server.listen(port, '127.0.0.1');
      await once(server, 'listening');
    },
    async stop() {
      if (!server.listening) return;
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

interface BrowserKeys {
  curve: ReturnType<typeof createECDH>;
  publicKey: Buffer;
  auth: Buffer;
}

/** RFC 8291 and RFC 8188, written from their text, apart from the library that encrypts. */
function decrypt(body: Buffer, { curve, publicKey, auth }: BrowserKeys): string {
  const salt = body.subarray(0, 16);
  const sender = body.subarray(21, 21 + body.readUInt8(20));
  const record = body.subarray(21 + sender.length);
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), publicKey, sender]);
  const secret = Buffer.from(hkdfSync('sha256', curve.computeSecret(sender), auth, info, 32));
  const derive = (name: string, length: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, Buffer.from(`Content-Encoding: ${name}\0`), length));
  const cipher = createDecipheriv('aes-128-gcm', derive('aes128gcm', 16), derive('nonce', 12));
  cipher.setAuthTag(record.subarray(-16));
  const plain = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()]);
  // The last record ends with a 2 and padding.
  return plain.subarray(0, plain.lastIndexOf(2)).toString();
}

/** The claims of a VAPID header (RFC 8292), whose signature fits the key of the server. @param publicKey from GET /v1/push-key */
export function readVapid(authorization: string, publicKey: string): Record<string, unknown> {
  const [, token = '', key = ''] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization) ?? [];
  if (key !== publicKey) throw new Error('the push names another key');
  const [head = '', claims = '', signature = ''] = token.split('.');
  const point = Buffer.from(publicKey, 'base64url');
  const [x, y] = [point.subarray(1, 33).toString('base64url'), point.subarray(33).toString('base64url')];
  const of = createPublicKey({ key: { kty: 'EC', crv: 'P-256', x, y }, format: 'jwk' });
  const signed = Buffer.from(`${head}.${claims}`);
  const fits = verify('sha256', signed, { key: of, dsaEncoding: 'ieee-p1363' }, Buffer.from(signature, 'base64url'));
  if (!fits) throw new Error('the signature of the push does not fit');
  return JSON.parse(Buffer.from(claims, 'base64url').toString());
}
