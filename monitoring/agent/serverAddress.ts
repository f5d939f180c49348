import { isIP } from 'node:net'

/**
 * Parses the address of a server for an agent. Throws, with advice, for an invalid URL, and for `http` to any other
 * machine, because the token would be readable on the way. Pure.
 */
export function serverAddress(text: string): URL {
  if (!URL.canParse(text)) throw new Error(`${text} is not a URL: write https://host:port`)
  const url = new URL(text)
  if (url.protocol !== 'https:' && url.protocol !== 'http:') {
    throw new Error(
      `${text} does not begin with https://: write https://host:port, or http://localhost:port on this machine`,
    )
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('the server URL must not contain a user name or password: the agent only needs the token')
  }
  if (url.protocol === 'http:' && !isLoopback(url.hostname)) {
    throw new Error(`http://${url.host} would expose the token on the network: use https`)
  }
  return url
}

function isLoopback(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '')
  return address === 'localhost' || address === '::1' || (isIP(address) === 4 && address.startsWith('127.'))
}
