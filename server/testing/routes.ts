/** The thirteen operations of the contract, with `:id` in place of an id. */
export const ROUTES = [
  ['GET', '/v1/org'],
  ['GET', '/v1/regions'],
  ['GET', '/v1/services'],
  ['POST', '/v1/services'],
  ['GET', '/v1/services/:id'],
  ['PATCH', '/v1/services/:id'],
  ['DELETE', '/v1/services/:id'],
  ['POST', '/v1/services/:id/pause'],
  ['POST', '/v1/services/:id/resume'],
  ['GET', '/v1/incidents?section=active'],
  ['POST', '/v1/incidents'],
  ['GET', '/v1/incidents/:id'],
  ['POST', '/v1/incidents/:id/updates'],
] as const

/** A well-formed id that belongs to nothing. */
export const UNKNOWN_ID = '00000000-0000-4000-8000-000000000000'
