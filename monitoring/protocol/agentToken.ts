/** Literal start of every agent token, long enough for secret scanners to find. */
export const AGENT_TOKEN_PREFIX = 'pharos_agent_'

/** Random bytes of an agent token. */
export const AGENT_TOKEN_BYTES = 32
