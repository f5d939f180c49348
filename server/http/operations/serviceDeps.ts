import { sealValue } from '../../domain/seal.ts'
import type { ServiceDeps } from '../../domain/serviceChanges.ts'
import type { ServiceFacts } from '../../store/store.ts'
import type { ApiParts } from './operation.ts'

/** The dependencies of a decision about a service, together with the `facts` of its organisation. */
export function serviceDeps(
  { quota, masterKeyId }: ServiceFacts,
  { environment, findMasterKey, isBlocked }: Omit<ApiParts, 'store'>,
): ServiceDeps {
  return {
    nowMs: environment.nowMs(),
    quota,
    uuid: environment.uuid,
    seal: (value, place) => sealValue(value, place, findMasterKey(masterKeyId), environment),
    isBlocked,
  }
}
