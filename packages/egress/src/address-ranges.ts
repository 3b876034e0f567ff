import { parseAddress } from './address.ts';
import { EgressError } from './errors.ts';

/** Private addresses that the operator opened on purpose. */
export interface AddressRanges {
  covers(address: string): boolean;
}

/** Reads `10.1.0.0/16`, `fd12::/48`, or one address. Throws `EgressError` ERULEINVALID. */
export function parseAddressRanges(ranges: readonly string[]): AddressRanges {
  const parsed = ranges.map(parseRange);
  return {
    covers(text) {
      const address = parseAddress(text);
      return (
        address !== null && parsed.some(([base, bits]) => base.kind() === address.kind() && address.match(base, bits))
      );
    },
  };
}

function parseRange(text: string) {
  const [, addressText = '', bitsText] = /^([^/]+)(?:\/(\d{1,3}))?$/.exec(text) ?? [];
  const address = parseAddress(addressText);
  const length = address?.kind() === 'ipv4' ? 32 : 128;
  const bits = Number(bitsText ?? length);
  if (!address || bits > length) {
    throw new EgressError('ERULEINVALID', `${JSON.stringify(text)} is not an address range.`, {
      next: 'Write an address and a prefix length, e.g. 10.1.0.0/16 or fd12::/48.',
    });
  }
  return [address, bits] as const;
}
