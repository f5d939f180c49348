/** The RPCs that are not served. None of their features is advertised in the schema. */

/** The feature of each declined RPC. */
const DECLINED = {
  MoveResourceState: 'moving state between resource types',
  GenerateResourceConfig: 'generating configuration',
  ValidateEphemeralResourceConfig: 'ephemeral resources',
  OpenEphemeralResource: 'ephemeral resources',
  RenewEphemeralResource: 'ephemeral resources',
  CloseEphemeralResource: 'ephemeral resources',
  ValidateStateStoreConfig: 'state stores',
  ConfigureStateStore: 'state stores',
  ReadStateBytes: 'state stores',
  WriteStateBytes: 'state stores',
  LockState: 'state stores',
  UnlockState: 'state stores',
  GetStates: 'state stores',
  DeleteState: 'state stores',
} as const

// True because the type consists of the keys of DECLINED.
export const DECLINED_RPCS = Object.keys(DECLINED) as readonly (keyof typeof DECLINED)[]

/** The message of a declined RPC, whose status is UNIMPLEMENTED. Pure. */
export function declinedText(providerName: string, rpc: keyof typeof DECLINED): string {
  return `the ${providerName} provider does not offer ${DECLINED[rpc]} (${rpc})`
}
