import type { Environment } from '../../domain/environment.ts'
import { sealValue } from '../../domain/seal.ts'
import type { ServiceDeps } from '../../domain/serviceChanges.ts'
import type { FindMasterKey } from '../../secrets/masterKeys.ts'
import type { ServiceFacts } from '../../store/store.ts'

/** The values that the server adds to a definition. */
interface MakingParts {
  readonly environment: Environment
  readonly findMasterKey: FindMasterKey
  readonly isBlocked: (url: string) => boolean
}

/** The dependencies of a decision about a service, together with the `facts` of its organisation. */
export function serviceDeps(
  { quota, masterKeyId }: ServiceFacts,
  { environment, findMasterKey, isBlocked }: MakingParts,
): ServiceDeps {
  return {
    nowMs: environment.nowMs(),
    quota,
    uuid: environment.uuid,
    seal: (value, place) => sealValue(value, place, findMasterKey(masterKeyId), environment),
    isBlocked,
  }
}
