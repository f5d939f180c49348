/** Literal prefix of every agent token, long enough for secret scanners to find. */
export const AGENT_TOKEN_PREFIX = 'pharos_agent_'

/** Number of random bytes in an agent token. */
export const AGENT_TOKEN_BYTES = 32

const AGENT_TOKEN = new RegExp(`^${AGENT_TOKEN_PREFIX}[0-9a-f]{${2 * AGENT_TOKEN_BYTES}}$`)

/** Whether `text` has the form of an agent token, whether or not a server knows it. Pure. */
export function isAgentToken(text: string): boolean {
  return AGENT_TOKEN.test(text)
}
