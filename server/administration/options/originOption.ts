import { InvalidArgumentError } from 'commander'

/** Parses an option whose value is the origin of a listener's public address. */
export function readOrigin(text: string): string {
  if (URL.canParse(text)) {
    const { protocol, origin, pathname, search, hash, username } = new URL(text)
    const isOrigin = pathname === '/' && search === '' && hash === '' && username === ''
    if ((protocol === 'http:' || protocol === 'https:') && isOrigin) return origin
  }
  throw new InvalidArgumentError('must be an address such as https://status.example.org, without a path')
}
