/** The RPCs of the protocol that are not served. None of their features is advertised in the schema. */

/** What each declined RPC would be for. */
export const DECLINED = {
  MoveResourceState: 'moving state between resource types',
  GenerateResourceConfig: 'generating configuration',
  ValidateEphemeralResourceConfig: 'ephemeral resources',
  OpenEphemeralResource: 'ephemeral resources',
  RenewEphemeralResource: 'ephemeral resources',
  CloseEphemeralResource: 'ephemeral resources',
  PlanAction: 'actions',
  InvokeAction: 'actions',
  ValidateActionConfig: 'actions',
  ValidateStateStoreConfig: 'state stores',
  ConfigureStateStore: 'state stores',
  ReadStateBytes: 'state stores',
  WriteStateBytes: 'state stores',
  LockState: 'state stores',
  UnlockState: 'state stores',
  GetStates: 'state stores',
  DeleteState: 'state stores',
} as const

/** RPCs whose answer is a stream. */
export const DECLINED_STREAMS: readonly string[] = ['InvokeAction', 'ReadStateBytes']
