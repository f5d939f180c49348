import { setTimeout } from 'node:timers/promises'
import type { Command } from 'commander'
import { systemEnvironment } from '../process/systemEnvironment.ts'
import { rotateMasterKey } from '../secrets/rotateMasterKey.ts'
import { MASTER_KEY_VARIABLE } from './options/configuration.ts'
import { databaseCommand, printFromStore } from './options/databaseCommand.ts'
import { engineOf } from './options/databaseOption.ts'
import { keySourceOf, type MasterKeyOptions, masterKeyOption } from './options/masterKeyOption.ts'

/** Pause between the transactions of a rotation (milliseconds): longer than a transaction takes. */
const GIVE_WAY_MS = 10

/** Adds `master-key rotate`. */
export function addMasterKeyCommands(
  program: Command,
  environment: Readonly<Record<string, string | undefined>>,
): void {
  const masterKey = program
    .command('master-key')
    .description('the master key that protects all sealed values')
  databaseCommand(masterKey, 'rotate', 'wrap all secrets with a new master key; a server may be running')
    .addOption(masterKeyOption())
    .addHelpText(
      'after',
      `\nWith ${MASTER_KEY_VARIABLE}: set it to NEW,OLD, restart the server with that value, then rotate with the same value.`,
    )
    .action(async (options: MasterKeyOptions, command: Command) => {
      const { dataDir = null } = options
      const source = keySourceOf(options, environment)
      await printFromStore(options, command, async (store) => {
        const { activeId, rewrapped } = await rotateMasterKey({
          ...{ store, engine: engineOf(options), source, dataDir, environment: systemEnvironment },
          yieldTurn: () => setTimeout(GIVE_WAY_MS),
        })
        return {
          // The first spelling is the old one, for existing scripts.
          value: { master_key_id: activeId, masterKeyId: activeId, rewrapped },
          text: `master key ${activeId} is active; ${rewrapped} secrets were wrapped with it`,
        }
      })
    })
}
