import { createHash } from 'node:crypto'

/**
 * The member of `members` that checks an endpoint: the one with the largest hash of both (rendezvous hashing). All
 * agents of a region independently compute the same result, and an agent that joins or leaves moves no endpoint between
 * others. `undefined` without members. Pure.
 */
export function ownerOf(endpointId: string, members: readonly string[]): string | undefined {
  if (members.length < 2) return members[0]
  let owner: string | undefined
  let largest = ''
  for (const member of members) {
    const hash = createHash('sha256').update(`${member}|${endpointId}`).digest('hex')
    if (hash <= largest) continue
    owner = member
    largest = hash
  }
  return owner
}
